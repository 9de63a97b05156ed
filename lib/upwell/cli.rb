# frozen_string_literal: true

require_relative "library"
require_relative "rackup_command"
require_relative "server"

module Upwell
  # The command line: `upwell [options] [config.ru]`, and `up_ruby`, `up_ruby_cluster`, which differ in the number of workers alone.
  # `upwell static` has options of its own, see {Static}.
  class CLI < RackupCommand
    INTERRUPTED_STATUS = 130 # 128 + SIGINT, as shells count

    autoload :OpalBuild, "upwell/cli/opal_build"

    # The command `upwell`: serves an application; with `static` as the first argument, files; with `opal build`, compiles one.
    #
    # @param arguments [Array<String>]
    # @return [Integer] the exit status
    def self.start(arguments)
      return Static.new("upwell static").run(arguments.drop(1)) if arguments.first == "static"
      return OpalBuild.new("upwell opal build").run(arguments.drop(2)) if arguments.first(2) == %w[opal build]

      new("upwell").run(arguments)
    end

    # @param arguments [Array<String>]
    # @return [Integer] the exit status: 0; 1 when serving is not possible, or ended with requests in flight; 2 for a wrong usage;
    #   130 when interrupted while the application was loaded
    def run(arguments)
      super
    rescue Error => e
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

    def usage
      "Usage: #{@program} [options] [config.ru]\n       #{@program} static [options] [DIR]"
    end

    def settings
      Configuration.settings
    end

    def define_more(options)
      super
      options.on("--check", "tells what was compiled in, what works here, why not, and what is configured") { @action = -> { check } }
    end

    def serve(rest)
      refuse_several(rest, "served")
      path = rackup_file(rest.first)
      configuration = configure
      ENV["RACK_ENV"] = configuration.environment
      run_server(configuration, Server::LogFile.new(configuration.log_file), Server) { load_app(path) }
    end

    def configure
      Configuration.new(@values, file: configuration_file, defaults: @defaults)
    end

    # What is configured comes last: it may not be what can be.
    def check
      status = Check.new.run
      configuration = configure
      Check.tell_settings(configuration, configuration_file)
      Server::Listeners.new(configuration).read_credentials
      status
    end

    def run_server(configuration, log_file, server, &load_app)
      raise ExtensionError if defined?(ExtensionError) # before there is a cluster of workers that cannot serve

      pid_file = Server::PidFile.new(configuration.pid_file)
      pid_file.write # first: a server that runs already shall not share its log
      log_file.open
      kind = configuration.workers.zero? ? Server::Single : Server::Cluster
      bus = Server::BusDirectory.make(configuration) if server == Server
      kind.new(configuration, log_file, server: server, &load_app).run { remove(bus, pid_file) }
    ensure
      remove(bus, pid_file)
    end

    def remove(*leftovers)
      leftovers.compact.each(&:remove)
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
