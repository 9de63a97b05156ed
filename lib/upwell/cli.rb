# frozen_string_literal: true

require "optparse"
require_relative "library"
require_relative "server"

module Upwell
  # The command line: `upwell [options] [config.ru]`, and `up_ruby`, `up_ruby_cluster`, which differ in the number of workers alone.
  # `upwell static` has options of its own, see {Static}.
  class CLI
    USAGE_STATUS = 2
    INTERRUPTED_STATUS = 130 # 128 + SIGINT, as shells count
    DEFAULT_RACKUP = "config.ru"
    DEFAULT_FILE = "config/upwell.rb"

    # The command `upwell`: serves an application, or with `static` as the first argument, files.
    #
    # @param arguments [Array<String>]
    # @return [Integer] the exit status
    def self.start(arguments)
      return Static.new("upwell static").run(arguments.drop(1)) if arguments.first == "static"

      new("upwell").run(arguments)
    end

    # @param program [String] the command's name
    # @param defaults [Hash{Symbol => Object}] of the settings that this command has another default for
    def initialize(program, defaults = {})
      @program = program
      @defaults = defaults
      @values = {}
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit status: 0; 1 when serving is not possible, or ended with requests in flight; 2 for a wrong usage;
    #   130 when interrupted while the application was loaded
    def run(arguments)
      rest = parser.parse(arguments)
      return act if @action

      serve(rest)
    rescue OptionParser::ParseError => e
      complain("#{e.message}; see #{@program} --help", USAGE_STATUS)
    rescue ConfigurationError, Error => e
      complain(e.message, 1)
    rescue *Reason::LACKS => e
      complain("cannot serve: #{Reason.of(e)}; allow more, or start fewer workers", 1)
    rescue Interrupt
      INTERRUPTED_STATUS
    rescue StandardError => e # not for Bundler, which takes one of a closed pipe for a success
      ErrorLog.report(e, nil)
      1
    end

    private

    def act
      @action.call.tap { $stdout.flush }
    rescue Errno::EPIPE, Errno::ENOSPC => e
      complain("standard output cannot be written: #{Reason.of(e)}", 1)
    end

    # The status tells where standard error cannot.
    def complain(message, status)
      tell("#{@program}: #{message}")
      status
    end

    def tell(text)
      warn text
    rescue SystemCallError, IOError
      nil
    end

    def parser
      OptionParser.new do |options|
        options.banner = usage
        settings.each { |setting| define(options, setting) }
        define_more(options)
        options.on("-v", "--version", "tells the version") { @action = -> { say("upwell #{VERSION}") } }
        options.on("-h", "--help", "tells this") { @action = -> { say(options.help) } }
      end
    end

    def usage
      "Usage: #{@program} [options] [config.ru]\n       #{@program} static [options] [DIR]"
    end

    def settings
      Configuration.settings
    end

    def define_more(options)
      options.on("-C", "--config FILE", "settings by the same names, in Ruby: port 8080 [#{DEFAULT_FILE}, if there]") { |path| @file = path }
      options.on("--check", "tells what was compiled in, what works here, why not, and what is configured") { @action = -> { check } }
    end

    def define(options, setting)
      long = [setting.option, setting.argument].compact.join(" ")
      options.on(*[setting.short, long, "#{setting.help}#{default(setting)}"].compact) do |value|
        setting.kind == :binds ? (@binds ||= []) << value : @values[setting.name] = value
      end
    end

    def default(setting)
      value = Array(@defaults.fetch(setting.name, setting.default)).join(", ")
      setting.kind == :flag || value.empty? ? "" : " [#{value}]"
    end

    def say(text)
      puts text
      0
    end

    def serve(rest)
      raise ConfigurationError, "one config.ru can be served, not #{rest.size}: #{rest.join(" ")}" if rest.size > 1

      path = rackup_file(rest.first)
      configuration = configure
      ENV["RACK_ENV"] = configuration.environment
      run_server(configuration, Server::LogFile.new(configuration.log_file), Server) { load_app(path) }
    end

    def configure
      @values[:bind] = @binds if @binds
      @file ||= DEFAULT_FILE if File.file?(DEFAULT_FILE)
      Configuration.new(@values, file: @file, defaults: @defaults)
    end

    # What is configured comes last: it may not be what can be.
    def check
      status = Check.new.run
      configuration = configure
      Check.tell_settings(configuration, @file)
      Server::Listeners.new(configuration).read_credentials
      status
    end

    def rackup_file(argument)
      path = File.expand_path(argument || DEFAULT_RACKUP)
      return path if File.file?(path)

      raise ConfigurationError, "there is no #{path}; go to the application's folder, or name its config.ru"
    end

    def run_server(configuration, log_file, server, &load_app)
      raise ExtensionError if defined?(ExtensionError) # before there is a cluster of workers that cannot serve

      pid_file = Server::PidFile.new(configuration.pid_file)
      pid_file.write # first: a server that runs already shall not share its log
      log_file.open
      kind = configuration.workers.zero? ? Server::Single : Server::Cluster
      bus = Server::BusDirectory.make(configuration) if server == Server
      kind.new(configuration, log_file, server: server, &load_app).run
    ensure
      bus&.remove
      pid_file&.remove
    end

    def load_app(path)
      require "rack"
      app = ::Rack::Builder.parse_file(path)
      Server::Warmup.run
      app.is_a?(Array) ? app.first : app # Rack 2 returns the options too
    rescue StandardError, ScriptError => e
      ErrorLog.report(e, nil)
      raise ConfigurationError, "#{path} raised #{e.class} while it was loaded; mend what the backtrace above shows"
    end
  end
end

require_relative "cli/check"
require_relative "cli/static"
