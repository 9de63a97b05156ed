# frozen_string_literal: true

require_relative "hide_password"
require_relative "configuration/addresses"
require_relative "configuration/dependent_settings"
require_relative "configuration/health_checks"
require_relative "configuration/logs"
require_relative "configuration/response_fields"
require_relative "settings"
require_relative "tls/ssl_address"

module Upwell
  # The configuration is invalid. The message names the setting, its source and the remedy.
  class ConfigurationError < StandardError; end

  # The settings of a server: defaults, overridden by the environment, a configuration file and the command line, in this order.
  #
  #     configuration = Upwell::Configuration.new(port: 8080, mode: "threads:5")
  #     configuration.port # => 8080
  class Configuration
    include Addresses
    include DependentSettings
    include HealthChecks
    include Logs
    include ResponseFields

    BACKENDS = %w[io_uring epoll kqueue poll io_uring_sqpoll].freeze
    PORTS = (0..65_535)
    HEADERS_MAX = 10_000
    MODE = /\A(?:inline|fibers|(?<kind>fibers|threads):(?<number>\d+))\z/
    MODE_MAX = { "fibers" => 30_000, "threads" => 1_000 }.freeze # each fiber takes two of the 65,530 mappings of a process
    FIBERS = 1_024 # the default of mode fibers
    WORKERS_MAX = 1_000
    SECONDS_MAX = 31_536_000 # a year
    COUNT_MAX = (2**31) - 1
    BYTES_MAX = 2**50
    MESSAGE_BYTES_MAX = 2**30 # a message is one block of memory
    FIELD_VALUE = /\A[\t\x20-\x7e]{0,256}\z/
    # The last variable that is set applies.
    ENVIRONMENT = { "PORT" => :port, "UPWELL_MODE" => :mode, "UPWELL_BACKEND" => :backend, "RAILS_ENV" => :environment,
                    "RACK_ENV" => :environment }.freeze

    # @return [Array<Setting>] all settings
    def self.settings
      SETTINGS
    end

    # @return [Array<TLS::Certificate>] certificates of the configuration file, besides `cert_file`
    attr_reader :certificates
    # @return [Array<Proc>] called in the supervisor before the first worker is forked
    attr_reader :before_fork_hooks
    # @return [Array<Proc>] called with the worker's number in each worker, before it accepts
    attr_reader :after_fork_hooks

    # @return [String, nil] the directory in which the server's processes exchange messages; the supervisor creates it
    attr_accessor :bus

    # Reads and checks all settings.
    #
    # @param values [Hash{Symbol => Object}] settings of the command line or the caller
    # @param file [String, nil] a configuration file, see {FileReader}
    # @param environment [Hash{String => String}]
    # @param defaults [Hash{Symbol => Object}] defaults that replace the usual ones
    # @raise [ConfigurationError] for an unknown setting or a value out of range
    def initialize(values = {}, file: nil, environment: ENV, defaults: {})
      @values = self.class.settings.to_h { |setting| [setting.name, setting.default] }
      @certificates = []
      @before_fork_hooks = []
      @after_fork_hooks = []
      defaults.each { |name, value| set(name, value, "default") }
      @given = [] # the settings that are set from here on
      read_environment(environment)
      FileReader.new(self).read(file) if file
      values.each { |name, value| set(name, value, "option") }
      refuse_what_lacks_another
      refuse_equal_paths
    end

    SETTINGS.each { |setting| define_method(setting.name) { @values.fetch(setting.name) } }

    # Checks and sets one setting.
    #
    # @param name [Symbol]
    # @param value [Object]
    # @param source [String] the value's source, for the error message
    # @raise [ConfigurationError] for an unknown setting or a value out of range
    def set(name, value, source)
      setting = self.class.settings.find { |candidate| candidate.name == name }
      raise ConfigurationError, "#{source}: unknown setting #{name}; see upwell --help" unless setting

      @values[name] = send(:"read_#{setting.kind}", value)
      @given&.push(name)
    rescue ArgumentError => e
      raise ConfigurationError, "#{source} #{name}: #{e.message}, got #{HidePassword.hide(value.inspect)}"
    end

    # @return [String] without passwords
    def inspect
      HidePassword.hide(super)
    end

    # @return [Integer] worker threads; 0 in the other modes
    def threads
      mode[/\Athreads:(\d+)\z/, 1].to_i
    end

    # @return [Integer, nil] the limit of concurrent requests in mode fibers, if the mode sets one
    def fibers
      mode[/\Afibers:(\d+)\z/, 1]&.to_i
    end

    # @return [Integer] loops per process, each with its own listening sockets
    def loops
      1
    end

    # @return [String] the mode, for the log
    def description
      mode
    end

    # @return [Hash{Symbol => Object}] the settings of {Reactor}
    def reactor_settings
      @values.merge(mode: mode[/\A\w+/].to_sym, fibers_max: fibers || FIBERS, newline_header_values: rack2?,
                    public: public_settings, bus: bus, metrics: metrics, **log_settings)
    end

    private

    # Files of the public directory are sent as by `upwell static --gzip-static`.
    def public_settings
      return if public.nil?

      files = StaticConfiguration.new({ cache_control: public_cache_control, gzip_static: true, header: header }, environment: {})
      files.files_settings.merge(root: public)
    end

    def read_environment(environment)
      ENVIRONMENT.each do |variable, name|
        value = environment[variable]
        set(name, value, "environment variable #{variable} for") if @values.key?(name) && value && !value.empty?
      end
    end

    def rack2?
      defined?(::Rack.release) ? ::Rack.release.start_with?("2.") : false
    end

    # Accepts decimal digits or a whole number.
    def integer(value, range, description)
      number = value.is_a?(String) ? Integer(value, 10, exception: false) : Integer(value, exception: false)
      whole = number && (value.is_a?(String) || value == number)
      raise ArgumentError, "must be #{description}" unless whole && range.cover?(number)

      number
    end

    def read_port(value)
      integer(value, PORTS, "a port from 0 to 65535")
    end

    def read_workers(value)
      return Upwell.processors if value.to_s == "auto"

      integer(value, 0..WORKERS_MAX, "a number from 0 to #{WORKERS_MAX}, or auto")
    end

    def read_mode(value)
      match = MODE.match(value.to_s)
      kind, number = match&.values_at(:kind, :number)
      return value.to_s if match && (kind.nil? || (1..MODE_MAX.fetch(kind)).cover?(number.to_i))

      limits = MODE_MAX.map { |name, max| "#{name}:N with N from 1 to #{max}" }
      raise ArgumentError, "must be fibers, inline, #{limits.join(", or ")}"
    end

    def read_backend(value)
      return if value.nil?
      return value.to_s if BACKENDS.include?(value.to_s)

      working = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
      raise ArgumentError, "must be a backend that works here: #{working.join(", ")}"
    end

    def read_client_certificate(value)
      return value.to_s if %w[optional required].include?(value.to_s)

      raise ArgumentError, "must be optional or required"
    end

    def read_text(value)
      value&.to_s
    end

    # The path becomes absolute, since the application may change the working directory.
    def read_path(value)
      value && File.expand_path(value.to_s)
    end

    def read_folder(value)
      return if value.nil?

      require_relative "static_configuration" # loaded now: a worker may have no descriptor left for the file
      path = File.expand_path(value.to_s)
      File.directory?(path) ? path : raise(ArgumentError, "must be an existing directory")
    end

    # Each worker connects to Redis later.
    def read_pubsub(value)
      return if value.nil?
      return value.to_s if PubSub::Redis::Address.match?(value)
      return File.expand_path(value.to_s) unless value.to_s.match?(/\A\w+:/)

      raise ArgumentError, "must be #{PubSub::Redis::Address::DESCRIPTION}, or a directory"
    end

    def read_field_value(value)
      return value if value.nil? || FIELD_VALUE.match?(value)

      raise ArgumentError, "must be at most 256 printable characters"
    end

    def read_flag(value)
      return value == true || value.to_s == "true" if [true, false, "true", "false"].include?(value)

      raise ArgumentError, "must be true or false"
    end

    def read_count(value)
      integer(value, 1..COUNT_MAX, "a whole number from 1 to #{COUNT_MAX}")
    end

    def read_bytes(value)
      integer(value, 1..BYTES_MAX, "a number of bytes from 1 to #{BYTES_MAX}")
    end

    def read_message_bytes(value)
      integer(value, 1..MESSAGE_BYTES_MAX, "a number of bytes from 1 to #{MESSAGE_BYTES_MAX}")
    end

    def read_headers(value)
      integer(value, 1..HEADERS_MAX, "a number from 1 to #{HEADERS_MAX}")
    end

    def read_seconds(value)
      number = Float(value, exception: false)
      raise ArgumentError, "must be a number of seconds above 0, at most a year" unless number&.positive? && number <= SECONDS_MAX

      number
    end

    def read_pause(value)
      Float(value, exception: false)&.zero? ? 0.0 : read_seconds(value)
    rescue ArgumentError
      raise ArgumentError, "must be a number of seconds from 0 to a year"
    end
  end
end

# Opal compiles only the code that a program needs. There the launcher has read the file.
require_relative "configuration/file_reader" unless RUBY_ENGINE == "opal"
require_relative "unix_address" unless RUBY_ENGINE == "opal"
