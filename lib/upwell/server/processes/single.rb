# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # A server without workers that owns its process. It loads the application and handles signals.
      #
      # SIGTERM and SIGINT drain, after a delay if one is set, and exit 0. A later signal, or the deadline, exits with status 1 at once. SIGHUP
      # reopens the log file and reloads the certificates. SIGUSR2 starts a new server, and drains once that one is ready. SIGTTIN logs the
      # backtraces.
      class Single
        # @param configuration [Configuration]
        # @param log_file [Logs::LogFile]
        # @param notifications [ServiceManager::Notifications]
        # @param handover [HotRestart::Handover]
        # @param server [Class] the class that serves the application
        # @yieldreturn [#call] the application
        def initialize(configuration, log_file, notifications, handover, server: Server, &load_app)
          @configuration = configuration
          @log_file = log_file
          @handover = handover
          notifications.mute if handover.replacing?
          @notifications = notifications
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
          @control = Listening::ControlListener.open(@configuration)
          @listeners = Listening::Listeners.open_for(@configuration)
          System::Privileges.new(@configuration).drop
          @commands = commands = Control::Commands.new(self)
          signals = Control::Signals.new(commands.handlers(Control::Commands::HARMLESS_SIGNALS)).trap # loading the application may take long
          trap("TTOU", "IGNORE") # the signal would stop the process
          make_server(&at_once)
          signals.add(commands.handlers(Control::Commands::STOP_SIGNALS))
          begin_serving
          @termination.serve ? 0 : 1
        ensure
          close(@listeners || []) if Process.pid == process # a forked process may exit here, too
        end

        # Drains the server, once it serves. The delay comes first.
        #
        # @param cause [String] see {Control::Commands}
        def drain(cause)
          @handover.cancel
          @notifier.stopping
        ensure
          @termination.drain(cause) # an error above must not prevent the drain
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

        # Starts a new server, which takes over the sockets once it is ready. This one drains then.
        #
        # @param cause [String]
        def hot_restart(cause)
          return Log.tell("#{cause} is ignored: this server does not serve yet") unless @termination

          started = Thread::Queue.new # the thread exists before the new server, which needs it
          Thread.new { await_successor if started.pop }.name = "upwell hot restart"
          started << @handover.start(cause, all_listeners, @notifier)
        rescue ThreadError => e
          Log.tell("#{cause}: a new server cannot be started: #{ErrnoText.of(e)}; this one keeps serving")
        ensure
          started&.close
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

        def begin_serving
          @handover.replace(all_listeners) { @notifications.unmute }
          @control&.serve(quiet: @configuration.quiet)
          Log.announce("Upwell #{VERSION} serves on #{@server.description}, no workers") unless @configuration.quiet
          @notifier.ready(@server)
        end

        def await_successor
          while (successor = @handover.successor)
            successor.report.wait_readable([successor.deadline - Clock.now, 0].max)
            @handover.check { lend_sockets } && @termination.drain_now(HotRestart::Handover::CAUSE)
          end
        rescue IOError
          nil # the server stops
        end

        def lend_sockets
          @commands.note_stop
          @control&.stop
        end

        def all_listeners
          [*@listeners, @control&.listener].compact
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
