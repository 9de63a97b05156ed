# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # The code of a worker process: it loads the application, reports that it is ready, and serves until it shall drain.
      class WorkerProcess
        # Seconds to wait for the supervisor's command, longer than the supervisor waits for its own signal ({Worker#retire_at}). A signal to
        # the process group also reaches the supervisor, which then drains all workers.
        SUPERVISOR_PATIENCE = 2 * Control::Commands::SAME_STOP

        # @see Worker.fork
        def initialize(slot, configuration, log_file, server_class, load_app)
          @slot = slot
          @configuration = configuration
          @log_file = log_file
          @server_class = server_class
          @load_app = load_app
          @drain_announced = slot.drain_announced?
        end

        # Runs the worker.
        #
        # @param status_writer [UNIXSocket] receives the backend's name once the worker accepts, and then heartbeats
        # @param alive [IO] see {Worker.fork}
        # @return [Integer] the exit status
        def run(status_writer, alive)
          boot(alive)
          interval = Heartbeat.interval(@configuration.worker_timeout)
          ExitDeadline.obey(status_writer.fileno)
          finished = @server.run { Heartbeat.give(status_writer, interval) { say_ready(status_writer) } }
          @deadline.served(finished)
          Messaging::BusLeftovers.remove_orphaned(@configuration)
          finished ? 0 : 1
        rescue ConfigurationError, BackendError => e
          Log.tell e.message
          ErrnoText.lack?(e.cause) ? Worker::LATER_STATUS : 1
        rescue *ErrnoText::LACKS => e
          ExceptionLog.report(e, nil)
          Worker::LATER_STATUS
        end

        # Reopens the log file and uses the certificates that the supervisor has reloaded.
        #
        # @param _cause [String] see {Control::Commands}
        def reopen_logs(_cause = nil)
          @log_file.open_again
          Listening::Listeners.renew(@slot.listeners)
          @server&.renew
        end

        # Logs the backtraces of all threads and fibers.
        #
        # @param _cause [String]
        def print_backtraces(_cause)
          Logs::Backtraces.tell
        end

        private

        def boot(alive)
          ProcessTitle.set("worker #{@slot.index}")
          @configuration.worker = @slot.index
          trap_signals
          reopen_logs # a SIGHUP may have arrived since the fork
          watch(alive)
          server = @server_class.new(load_app, @configuration, listeners: @slot.listeners)
          @deadline = Shutdown::DrainDeadline.new(server, @configuration.drain_timeout)
          @server = server
          server.renew # a SIGHUP may have arrived meanwhile
          server.announce_drain if @drain_announced
        end

        # A child that continues here (after Process.daemon, for example) would serve without a supervisor and never exit.
        def load_app
          process = Process.pid
          @configuration.after_fork_hooks.each { |hook| hook.call(@slot.index) }
          app = @load_app.call
          return app if Process.pid == process

          raise ConfigurationError, "worker #{@slot.index} forked while it started, and the forked process exits: " \
                                    "after_fork and the application must neither call Process.daemon nor fork without a block"
        end

        # The worker may have received a stop signal meanwhile.
        def say_ready(status_writer)
          Heartbeat.tell(status_writer, "#{@server.backend}\n")
          @status_writer = status_writer
          Heartbeat.tell(status_writer, Heartbeat::LEAVING) if @draining || @leaving
        end

        def trap_signals
          trap("CHLD", "DEFAULT")
          trap("USR1", "IGNORE")
          trap("INT", "IGNORE") # a terminal signals the whole process group; the supervisor decides
          commands = Control::Commands.new(self, hint: "send it to the supervisor")
          Control::Signals.new({ **commands.handlers(%w[HUP TTIN USR2]), "TERM" => ->(*) { leave } }).trap
        end

        def watch(alive)
          Thread.new do
            Thread.current.name = "upwell watch"
            obey(alive.getc) until alive.eof?
            end_serving
          end
        end

        def obey(command)
          case command
          when Worker::ANNOUNCE_DRAIN then announce_drain
          when Worker::LEND then Listening::Listeners.lend(@slot.listeners)
          when Worker::OWN then Listening::Listeners.own(@slot.listeners)
          else retire
          end
        end

        # The supervisor decides when to drain, also after a signal to this worker.
        def announce_drain
          @drain_announced = true
          @server&.announce_drain
        end

        # The supervisor knows whether other workers serve from the sockets, so it decides. A supervisor that does not run is not awaited.
        def leave
          return exit!(0) unless @server
          return if @leaving || @drain_announced

          @leaving = true
          Heartbeat.tell(@status_writer, Heartbeat::LEAVING) if @status_writer
          Thread.new { sleep(SUPERVISOR_PATIENCE) && !@drain_announced && retire }
        rescue ThreadError # without a thread the worker cannot wait for the supervisor
          retire
        end

        # Other workers serve from the sockets.
        def retire
          drain(refuses: false) unless @draining
        end

        # No other process serves from the sockets, unless they belong to another server. Without a supervisor no process kills the worker at
        # its deadline.
        def end_serving
          Listening::Listeners.remove(@slot.listeners)
          drain(refuses: @slot.listeners.none?(&:lent))
        end

        # A worker that still boots has no request in flight.
        def drain(refuses:)
          return exit!(0) unless @server

          @deadline.begin
          begin_draining unless @draining
        ensure
          @server&.drain(refuses: refuses)
        end

        def begin_draining
          @draining = true
          Heartbeat.tell(@status_writer, Heartbeat::LEAVING) if @status_writer
          ProcessTitle.set("worker #{@slot.index}, draining")
          tell_what_is_in_flight
        end

        def tell_what_is_in_flight
          count = @server.in_flight
          return unless count&.positive? || @server.long_lived_clients.positive?

          sentence = Shutdown::Termination.sentence(count, @server.long_lived_clients, @configuration.drain_timeout)
          Log.tell("worker #{@slot.index}: #{sentence}#{Shutdown::Termination.list(@server)}")
        end
      end
    end
  end
end
