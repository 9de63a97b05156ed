# frozen_string_literal: true

require_relative "settings"
require_relative "tls/address"

module Upwell
  # What was configured cannot be: the message says what, where and what to do.
  class ConfigurationError < StandardError; end

  # The settings of a server: defaults, overridden by the environment, a configuration file and the command line, in this order.
  #
  #     configuration = Upwell::Configuration.new(port: 8080, mode: "threads:5")
  #     configuration.port # => 8080
  class Configuration
    BACKENDS = %w[io_uring epoll kqueue poll io_uring_sqpoll].freeze
    PORTS = (0..65_535)
    HEADERS_MAX = 100
    MODE = /\A(?:inline|fibers|(?<kind>fibers|threads):(?<number>\d+))\z/
    MODE_MAX = { "fibers" => 30_000, "threads" => 1_000 }.freeze # each fiber takes two of the 65,530 mappings that a process may have
    FIBERS = 1_024 # where the mode does not say
    WORKERS_MAX = 1_000
    SECONDS_MAX = 31_536_000 # a year
    COUNT_MAX = (2**31) - 1
    BYTES_MAX = 2**50
    MESSAGE_BYTES_MAX = 2**30 # a message is one piece of memory
    ADDRESS = %r{\A(?:unix:.+|(?!unix:)(?!(?!ssl)\w+://).+)\z} # the resolver has the last word
    FIELD_VALUE = /\A[\t\x20-\x7e]{0,256}\z/
    # The last that is set counts.
    ENVIRONMENT = { "PORT" => :port, "UPWELL_MODE" => :mode, "UPWELL_BACKEND" => :backend, "RAILS_ENV" => :environment,
                    "RACK_ENV" => :environment }.freeze

    # @return [Array<Setting>] what there is to configure
    def self.settings
      SETTINGS
    end

    # @return [Array<TLS::Certificate>] those that the configuration file names, beside `cert_file`
    attr_reader :certificates
    # @return [Array<Proc>] called in the supervisor before the first worker is forked
    attr_reader :before_fork_hooks
    # @return [Array<Proc>] called with the worker's number in each worker, before it accepts
    attr_reader :after_fork_hooks

    # @return [String, nil] the folder in which the processes of a server meet, which its supervisor makes
    attr_accessor :bus

    # @param values [Hash{Symbol => Object}] what the command line or a caller decided
    # @param file [String, nil] a configuration file, see {FileReader}
    # @param environment [Hash{String => String}]
    # @param defaults [Hash{Symbol => Object}] in place of the usual ones
    # @raise [ConfigurationError] for an unknown setting or a value out of range
    def initialize(values = {}, file: nil, environment: ENV, defaults: {})
      @values = self.class.settings.to_h { |setting| [setting.name, setting.default] }
      @certificates = []
      @before_fork_hooks = []
      @after_fork_hooks = []
      defaults.each { |name, value| set(name, value, "default") }
      read_environment(environment)
      FileReader.new(self).read(file) if file
      values.each { |name, value| set(name, value, "option") }
    end

    SETTINGS.each { |setting| define_method(setting.name) { @values.fetch(setting.name) } }

    # @param name [Symbol]
    # @param value [Object]
    # @param source [String] for the message
    # @raise [ConfigurationError]
    def set(name, value, source)
      setting = self.class.settings.find { |candidate| candidate.name == name }
      raise ConfigurationError, "#{source}: there is no setting #{name}; see upwell --help" unless setting

      @values[name] = send(:"read_#{setting.kind}", value)
    rescue ArgumentError => e
      raise ConfigurationError, "#{source} #{name}: #{e.message}, got #{value.inspect}"
    end

    # @return [Integer] worker threads; 0 in the other modes
    def threads
      mode[/\Athreads:(\d+)\z/, 1].to_i
    end

    # @return [Integer, nil] requests that may be served at once in mode fibers, where the mode says so
    def fibers
      mode[/\Afibers:(\d+)\z/, 1]&.to_i
    end

    # @return [Integer] loops of a process, each with listening sockets of its own
    def loops
      1
    end

    # @return [String] for the operator: how requests are served
    def description
      mode
    end

    # @return [Boolean] whether not to tell where the server listens
    def quiet
      false
    end

    # @return [Hash{Symbol => Object}] what {Reactor} needs, among all that is set
    def reactor_settings
      @values.merge(mode: mode[/\A\w+/].to_sym, fibers_max: fibers || FIBERS, newline_header_values: rack2?,
                    public: public_settings, bus: bus)
    end

    private

    # Files of the public folder are sent as `upwell static --gzip-static` would.
    def public_settings
      return if public.nil?

      files = StaticConfiguration.new({ cache_control: public_cache_control, gzip_static: true }, environment: {})
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

    # Decimal digits, or a number that is whole.
    def integer(value, range, description)
      number = value.is_a?(String) ? Integer(value, 10, exception: false) : Integer(value, exception: false)
      whole = number && (value.is_a?(String) || value == number)
      raise ArgumentError, "must be #{description}" unless whole && range.cover?(number)

      number
    end

    def read_port(value)
      integer(value, PORTS, "a port from 0 to 65535")
    end

    def read_binds(value)
      addresses = Array(value).map(&:to_s)
      addresses.each { |address| TLS::Address.new(address) if TLS::Address.match?(address) }
      return addresses if addresses.any? && addresses.all? { |address| ADDRESS.match?(address) }

      raise ArgumentError, "must be host, host:port, [v6]:port, ssl://host:port or unix:PATH"
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
      raise ArgumentError, "must be one of those that work here: #{working.join(", ")}"
    end

    def read_client_certificate(value)
      return value.to_s if %w[optional required].include?(value.to_s)

      raise ArgumentError, "must be optional or required"
    end

    def read_text(value)
      value&.to_s
    end

    # The application may go to another folder.
    def read_path(value)
      value && File.expand_path(value.to_s)
    end

    def read_folder(value)
      return if value.nil?

      require_relative "static_configuration" # now, and not by a worker that may have no descriptor left for it
      path = File.expand_path(value.to_s)
      File.directory?(path) ? path : raise(ArgumentError, "must be a folder that exists")
    end

    # Redis is asked later, by each worker.
    def read_pubsub(value)
      return if value.nil?
      return value.to_s if PubSub::Redis::Address.match?(value)
      return File.expand_path(value.to_s) unless value.to_s.match?(/\A\w+:/)

      raise ArgumentError, "must be #{PubSub::Redis::Address::DESCRIPTION}, or a folder"
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
      raise ArgumentError, "must be a number of seconds, at most a year, or 0"
    end
  end
end

# Opal compiles no more of a program than it needs: there the file was read by who started it.
require_relative "configuration/file_reader" unless RUBY_ENGINE == "opal"
