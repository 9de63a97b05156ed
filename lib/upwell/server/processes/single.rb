# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # A server without workers that owns its process. It loads the application and handles signals.
      #
      # SIGTERM and SIGINT drain, after a delay if one is set, and exit 0. A later signal, or the deadline, exits with status 1 at once. SIGHUP
      # reopens the log file and reloads the certificates. SIGTTIN logs the backtraces.
      class Single
        # @param configuration [Configuration]
        # @param log_file [Logs::LogFile]
        # @param notifications [ServiceManager::Notifications]
        # @param server [Class] the class that serves the application
        # @yieldreturn [#call] the application
        def initialize(configuration, log_file, notifications, server: Server, &load_app)
          @configuration = configuration
          @log_file = log_file
          @notifier = ServiceManager::SingleNotifier.new(notifications)
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
          @listeners = Listening::Listeners.open_for(@configuration)
          @control = Listening::ControlListener.open(@configuration)
          System::Privileges.new(@configuration).drop
          commands = Control::Commands.new(self)
          signals = Control::Signals.new(commands.handlers(Control::Commands::HARMLESS_SIGNALS)).trap # loading the application may take long
          trap("TTOU", "IGNORE") # the signal would stop the process
          make_server(&at_once)
          signals.add(commands.handlers(Control::Commands::STOP_SIGNALS))
          announce
          @notifier.ready(@server)
          @termination.serve ? 0 : 1
        ensure
          close(@listeners || []) if Process.pid == process # a forked process may exit here, too
        end

        # Drains the server, once it serves. The delay comes first.
        #
        # @param cause [String] see {Control::Commands}
        def drain(cause)
          @notifier.stopping
          @termination.drain(cause)
        end

        # Ends the process.
        #
        # @param cause [String]
        def stop_at_once(cause)
          @termination.stop_at_once(cause)
        end

        # Reopens the log file and reloads the certificates.
        #
        # @param _cause [String]
        def reopen_logs(_cause)
          @notifier.reload do
            @log_file.open_again
            Listening::Listeners.renew(@listeners)
            @server&.renew
          end
        end

        # Logs that this process has no workers to restart.
        #
        # @param cause [String]
        def phased_restart(cause)
          Log.tell("#{cause}: a phased restart needs workers (-w N)")
        end

        # Logs the backtraces of all threads and fibers.
        #
        # @param _cause [String]
        def print_backtraces(_cause)
          Logs::Backtraces.tell
        end

        private

        def announce
          @control&.serve(quiet: @configuration.quiet)
          Log.announce("Upwell #{VERSION} serves on #{@server.description}, no workers") unless @configuration.quiet
        end

        def close(listeners)
          Listening::Listeners.remove(listeners)
          @control&.close
        end

        def make_server(&at_once)
          @server = @server_class.new(@load_app.call, @configuration, listeners: @listeners)
          @server.renew # a SIGHUP may have arrived meanwhile
          @termination = Shutdown::Termination.new(@server, @listeners, @configuration) do
            @control&.remove
            at_once&.call
          end
        end
      end
    end
  end
end
