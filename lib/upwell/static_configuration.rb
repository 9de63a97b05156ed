# frozen_string_literal: true

require_relative "configuration"
require_relative "media_types"

module Upwell
  # The settings of a static file server.
  #
  #     configuration = Upwell::StaticConfiguration.new(port: 8080, list: true)
  class StaticConfiguration < Configuration
    THREADS = (1..256)
    LOG_FORMATS = %w[combined json].freeze
    STANDARD_OUTPUT = "-"
    BODY_BYTES_MAX = 65_536 # of requests that should have none

    SHARED = Upwell::SETTINGS.select { |setting| setting.for?(:static) }.freeze
    private_constant :SHARED

    SETTINGS = [
      *SHARED,
      Setting.new(:threads, 1, :loops, nil, "N", "loops of a process, each with a file cache and sockets of its own"),
      Setting.new(:cache_control, nil, :field_value, nil, "VALUE", "Cache-Control of every response"),
      Setting.new(:list, false, :flag, nil, nil, "folders without index.html are listed"),
      Setting.new(:spa, nil, :text, nil, "FALLBACK", "file that answers for paths that name none"),
      Setting.new(:gzip_static, false, :flag, nil, nil, "FILE.br, FILE.zst and FILE.gz are sent to clients that accept them"),
      Setting.new(:access_log, nil, :log, nil, "[FILE]", "a line for each response; standard output without FILE"),
      Setting.new(:log_format, "combined", :log_format, nil, "NAME", "combined or json"),
      Setting.new(:cache_entries_max, 1_000, :count, nil, "N", "files that a loop keeps open or in memory"),
      Setting.new(:cache_bytes_max, 67_108_864, :bytes, nil, "BYTES", "content that a loop keeps in memory"),
      Setting.new(:cache_file_bytes_max, 8_192, :bytes, nil, "BYTES", "content of one file kept in memory; a larger one is kept open"),
      Setting.new(:quiet, false, :flag, nil, nil, "does not tell where it listens")
    ].freeze

    # @return [Array<Setting>] what there is to configure
    def self.settings
      SETTINGS
    end

    (SETTINGS - SHARED).each { |setting| define_method(setting.name) { @values.fetch(setting.name) } }

    # @return [Integer] loops of a process, each with listening sockets of its own
    def loops
      threads
    end

    # @return [Boolean] there is nothing to load
    def preload
      false
    end

    # @return [String] for the operator: how requests are served
    def description
      threads == 1 ? "static files" : "static files, #{threads} threads"
    end

    # @return [Hash{Symbol => Object}] how files are served, among all that is set
    def files_settings
      @values.merge(media_types: MediaTypes.table)
    end

    # @return [Hash{Symbol => Object}] what {StaticReactor} needs, but for the log's stream
    def reactor_settings
      files_settings.merge(body_bytes_max: BODY_BYTES_MAX, body_memory_bytes_max: BODY_BYTES_MAX, log_format: log_format.to_sym)
    end

    private

    def read_loops(value)
      integer(value, THREADS, "a number from #{THREADS.min} to #{THREADS.max}")
    end

    # An option without its argument gives nil, and so means standard output; without the option this is not called.
    def read_log(value)
      value.nil? || value == true ? STANDARD_OUTPUT : value.to_s
    end

    def read_log_format(value)
      return value.to_s if LOG_FORMATS.include?(value.to_s)

      raise ArgumentError, "must be #{LOG_FORMATS.join(" or ")}"
    end
  end
end
