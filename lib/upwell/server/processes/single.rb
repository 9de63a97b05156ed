# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # A server without workers that owns its process. It loads the application and handles signals.
      #
      # SIGTERM and SIGINT drain and exit 0. A later signal, or the deadline, exits with status 1 at once. SIGHUP reopens the log file and
      # reloads the certificates. SIGTTIN logs the backtraces.
      class Single
        # @param configuration [Configuration]
        # @param log_file [Logs::LogFile]
        # @param server [Class] the class that serves the application
        # @yieldreturn [#call] the application
        def initialize(configuration, log_file, server: Server, &load_app)
          @configuration = configuration
          @log_file = log_file
          @server_class = server
          @load_app = load_app
        end

        # Runs the server until a stop signal.
        #
        # @yield before an immediate exit, after which this method does not return
        # @return [Integer] the exit status
        def run(&at_once)
          process = Process.pid
          ProcessTitle.set("server")
          listeners = Listening::Listeners.open_for(@configuration)
          System::Privileges.new(@configuration).drop
          signals = Control::Signals.new(harmless_signals(listeners)).trap # loading the application may take long
          trap("TTOU", "IGNORE") # the signal would stop the process
          make_server(listeners)
          termination = Shutdown::Termination.new(@server, listeners, @configuration.drain_timeout, quiet: @configuration.quiet, &at_once)
          signals.add(termination.handlers)
          Log.announce("Upwell #{VERSION} serves on #{@server.description}, no workers") unless @configuration.quiet
          termination.serve ? 0 : 1
        ensure
          Listening::Listeners.remove(listeners || []) if Process.pid == process # a forked process may exit here, too
        end

        private

        def harmless_signals(listeners)
          {
            **Control::Signals::QUESTIONS,
            "HUP" => ->(*) { read_again(listeners) },
            "USR1" => ->(*) { Log.tell("SIGUSR1: a phased restart needs workers (-w N)") }
          }
        end

        def make_server(listeners)
          @server = @server_class.new(@load_app.call, @configuration, listeners: listeners)
          @server.renew # a SIGHUP may have arrived meanwhile
        end

        def read_again(listeners)
          @log_file.open_again
          Listening::Listeners.renew(listeners)
          @server&.renew
        end
      end
    end
  end
end
