# frozen_string_literal: true

require_relative "library"
require_relative "single_application_command"
require_relative "server"

module Upwell
  # The command line `upwell [options] [config.ru]`. `up_ruby` and `up_ruby_cluster` differ only in the number of workers.
  # `upwell static` has its own options, see {Static}.
  class CLI < SingleApplicationCommand
    INTERRUPTED_STATUS = 130 # 128 + SIGINT, the convention of shells

    COMMANDS = %w[static init opal].freeze # words that can stand in place of config.ru

    autoload :Init, "upwell/cli/init"
    autoload :OpalBuild, "upwell/cli/opal_build"

    # Runs the command `upwell`: serves an application, serves files (`static`), writes the units of a service
    # (`init systemd`), or compiles an application (`opal build`).
    #
    # @param arguments [Array<String>]
    # @return [Integer] the exit status
    def self.start(arguments)
      return Static.new("upwell static").run(arguments.drop(1)) if arguments.first == "static"
      return Init.new("upwell init").run(arguments.drop(1)) if arguments.first == "init"
      return OpalBuild.new("upwell opal build").run(arguments.drop(2)) if arguments.first(2) == %w[opal build]

      new("upwell").run(arguments)
    end

    # Serves an application with the given options.
    #
    # @param arguments [Array<String>]
    # @return [Integer] the exit status: 0; 1 when serving is not possible, or ended with requests in flight; 2 for wrong usage;
    #   130 when interrupted while the application was loaded
    def run(arguments)
      super
    rescue Error => e
      complain(e.message, 1)
    rescue *ErrnoText::LACKS => e
      complain("cannot serve: #{ErrnoText.of(e)}; raise this limit or free memory, or start fewer workers (-w)", 1)
    rescue Interrupt
      INTERRUPTED_STATUS
    rescue StandardError => e # Bundler would treat an exception of a closed pipe as success
      ExceptionLog.report(e, nil)
      1
    end

    private

    # Once the settings are known, an error is a record of the log.
    def complain(message, status)
      return super unless Log.json

      Log.tell(HidePassword.hide(message))
      status
    end

    def usage
      "Usage: #{@program} [options] [config.ru]\n       #{@program} static [options] [DIR]\n       #{@program} init systemd"
    end

    def settings
      Configuration.settings
    end

    def define_more(options)
      super
      options.on("--check", "print the build, the backends that work on this machine, and the changed settings") { @action = -> { check } }
    end

    def serve(rest)
      refuse_several(rest, "served")
      predecessor # first: this process continues as another one
      path = rackup_file(rest.first)
      service_manager # first: the configuration file may start child processes
      configuration = configure
      ENV["RACK_ENV"] = configuration.environment
      run_server(configuration, Server) { load_app(path) }
    end

    def suggestion(word)
      return "; to stop a server, send it SIGTERM: kill -TERM PID" if word == "stop"

      near = COMMANDS.find { |name| name[0] == word[0] && (name.chars - word.chars).size <= 1 }
      near ? "; did you mean: #{@program} #{near}?" : super
    end

    def configure
      Configuration.new(@values, file: configuration_file, defaults: @defaults)
    end

    # The configuration comes last, because it may be invalid.
    def check
      status = Check.new.run
      configuration = configure
      Check.tell_settings(configuration, configuration_file)
      Server::Listening::Listeners.new(configuration).read_credentials
      status
    end

    # @return [Hash{String => String}] the variables of the service manager, which are no longer in the environment
    def service_manager
      @service_manager ||= Server::ServiceManager::Environment.take
    end

    # @return [Server::HotRestart::Predecessor, nil] the running server that this one replaces
    def predecessor
      return @predecessor if defined?(@predecessor)

      @command_line = Server::HotRestart::CommandLine.new
      @predecessor = Server::HotRestart::Predecessor.take
    end

    def run_server(configuration, server, &load_app)
      raise ExtensionError if defined?(ExtensionError) # before a cluster starts workers that cannot serve

      log_file = choose_logs(configuration)
      take_sockets(configuration)
      owner = Server::System::Privileges.new(configuration).owner
      pid_file = Server::System::PidFile.new(configuration.pid_file, owner)
      pid_file.write unless predecessor # first: a second server must not write to the running server's log
      log_file.owner = owner
      log_file.open
      Server::Logs::MissingLibraries.tell(configuration)
      Server::System::TemporaryFolder.check(owner) if server == Server
      bus = Server::Messaging::BusDirectory.make(configuration, owner: owner) if server == Server
      process(configuration, log_file, server, pid_file, &load_app).run { remove(bus, pid_file) }
    ensure
      remove(bus, pid_file)
    end

    def take_sockets(configuration)
      configuration.inherited_sockets = predecessor&.kept || Server::Listening::InheritedSockets.take(service_manager)
      configuration.handed_over_sockets = predecessor&.own
    end

    def process(configuration, log_file, server, pid_file, &load_app)
      handover = Server::HotRestart::Handover.new(@command_line, pid_file, configuration.boot_timeout, predecessor)
      kind = configuration.workers.zero? ? Server::Processes::Single : Server::Processes::Cluster
      kind.new(configuration, log_file, Server::ServiceManager::Notifications.take(service_manager), handover, server: server, &load_app)
    end

    # @return [Server::Logs::LogFile] the files, which are not open yet
    def choose_logs(configuration)
      Log.json = configuration.log_format == "json"
      Server::Logs::LogFile.new(configuration.log_file).tap do |log_file|
        configuration.access_log_stream = Server::Logs::AccessLog.stream(configuration, log_file)
      end
    end

    def remove(*leftovers)
      leftovers.compact.each(&:remove)
    end

    def load_app(path)
      require "rack"
      app = parse(path)
      Server::System::Warmup.run
      app.is_a?(Array) ? app.first : app # Rack 2 also returns the options
    rescue StandardError, ScriptError => e
      BootBacktrace.shorten(e) unless $DEBUG
      ExceptionLog.report(e, nil)
      raise ConfigurationError, "#{path} raised #{e.class} while loading; correct the place that the backtrace above names"
    end

    # Ruby's sources are UTF-8. Rack reads config.ru in the locale's encoding, and fails in the locale C if the file has other characters.
    def parse(path)
      return ::Rack::Builder.parse_file(path) unless path.end_with?(".ru")

      script = File.read(path, encoding: "bom|utf-8").sub(/^__END__\n.*\z/m, "")
      ::Rack::Builder.new_from_string(script, path)
    end
  end
end

require_relative "cli/boot_backtrace"
require_relative "cli/check"
require_relative "cli/static"
