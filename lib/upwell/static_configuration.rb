# frozen_string_literal: true

require_relative "configuration"
require_relative "media_types"

module Upwell
  # The settings of a static file server.
  #
  #     configuration = Upwell::StaticConfiguration.new(port: 8080, list: true)
  class StaticConfiguration < Configuration
    THREADS = (1..256)
    BODY_BYTES_MAX = 65_536 # the limit of bodies in requests that should have none

    COMPANIONS = { access_log_except: :access_log }.freeze

    SHARED = Upwell::SETTINGS.select { |setting| setting.for?(:static) }.freeze
    private_constant :SHARED

    SETTINGS = [
      *SHARED,
      Setting.new(:threads, 1, :loops, nil, "N", "number of threads of a process; each has its own file cache and sockets"),
      Setting.new(:cache_control, nil, :field_value, nil, "VALUE", "value of the header Cache-Control in every response"),
      Setting.new(:list, false, :flag, nil, nil, "show the list of files for a directory without index.html"),
      Setting.new(:spa, nil, :text, nil, "FALLBACK", "send the file FALLBACK for a path that names no file (single-page application)"),
      Setting.new(:gzip_static, false, :flag, nil, nil, "send FILE.br, FILE.zst or FILE.gz instead of FILE to clients that accept the coding"),
      Setting.new(:cache_entries_max, 1_000, :count, nil, "N", "maximum number of files that a thread keeps open or in memory"),
      Setting.new(:cache_bytes_max, 67_108_864, :bytes, nil, "BYTES", "maximum file content that a thread keeps in memory"),
      Setting.new(:cache_file_bytes_max, 8_192, :bytes, nil, "BYTES",
                  "maximum size of a file that a thread keeps in memory; a larger file is kept open instead")
    ].freeze

    # @return [Array<Setting>] all settings
    def self.settings
      SETTINGS
    end

    (SETTINGS - SHARED).each { |setting| define_method(setting.name) { @values.fetch(setting.name) } }

    # @return [Integer] loops per process, each with its own listening sockets
    def loops
      threads
    end

    # @return [nil] a file server has no control address
    def control
      nil
    end

    # @return [Boolean] true: a file server has no application to load
    def preload
      false
    end

    # @return [Boolean] false: there is no application
    def development?
      false
    end

    # @return [String] the mode, for the log
    def description
      threads == 1 ? "static files" : "static files, #{threads} threads"
    end

    # @return [Hash{Symbol => Object}] the settings for files
    def files_settings
      @values.merge(media_types: MediaTypes.table, fields: header.map { |field| "#{field}\r\n" }.join)
    end

    # @return [Hash{Symbol => Object}] the settings of {StaticReactor}
    def reactor_settings
      files_settings.merge(log_settings, body_bytes_max: BODY_BYTES_MAX, body_memory_bytes_max: BODY_BYTES_MAX)
    end

    private

    def read_loops(value)
      integer(value, THREADS, "a number from #{THREADS.min} to #{THREADS.max}")
    end
  end
end
