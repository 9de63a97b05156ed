# frozen_string_literal: true

require_relative "../control/commands"
require_relative "../control/signal_pipe"
require_relative "cluster_drain"
require_relative "cluster_hot_restart"
require_relative "cluster_sockets"
require_relative "slot"
require_relative "worker_process"

module Upwell
  class Server
    module Processes
      # A supervisor with worker processes. It owns the listening sockets: each worker slot has its own set on the same ports (SO_REUSEPORT).
      # The sockets remain open when a worker is replaced, so its successor finds the accept queue and no connection is lost.
      #
      # A worker without heartbeats is killed and replaced. Meanwhile {Listening::ReuseportSteering} sends new clients to the others.
      #
      # SIGTERM and SIGINT drain all workers, after a delay if one is set, and exit 0 (1 when requests were cancelled). A later signal kills the
      # workers and exits 1. SIGHUP reopens the log file and reloads the certificates, here and in the workers. SIGUSR1 replaces the workers one
      # by one: each worker serves until its successor is ready. SIGUSR2 starts a new server, and drains once that one is
      # ready. SIGTTIN makes the workers log their backtraces.
      class Cluster
        include ClusterDrain
        include ClusterHotRestart
        include ClusterSockets

        END_OF_WORKER = "CHLD" # the signal ends the wait, and each iteration checks all workers
        OLD_CODE = "with --preload, new workers run the code loaded at startup; to load new code, restart the server, or remove --preload"
        PAUSE = 1 # seconds after an iteration that failed

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
          @server_class = server
          @load_app = load_app
          @slots = []
          @restart = [] # the slots whose workers wait for their replacement
          @signals = Control::SignalPipe.new
          @commands = Control::Commands.new(self)
          @interval = Heartbeat.interval(configuration.worker_timeout)
        end

        # Runs the workers until a stop signal.
        #
        # @return [Integer] the exit status
        # @raise [ConfigurationError] when an address cannot be listened on, or a worker cannot start
        def run
          process = Process.pid
          ProcessTitle.set("supervisor")
          System::Privileges.new(@configuration).tap { open_sockets }.drop
          trap("TTOU", "IGNORE") # the signal would stop the process
          @signals.trap(Control::Commands::HARMLESS_SIGNALS) # loading the application may take long
          prepare
          refuse_second_supervisor if Process.ppid == process
          @control&.serve(quiet: @configuration.quiet) unless @handover.replacing?
          # Again: the application may have replaced some handlers, and workers restore theirs.
          @signals.trap([*Control::Commands::SIGNALS.keys, END_OF_WORKER])
          supervise
        ensure
          close if Process.pid == process # a forked process may exit here, too
        end

        # Ends the loop. Workers that remain are killed. The supervisor's loop calls this method and the following ones.
        #
        # @param cause [String]
        def stop_at_once(cause)
          Log.tell("#{cause} again: exiting with requests in flight")
          @status = 1
        end

        # Reopens the log file and reloads the certificates, here and in the workers. Later workers inherit the certificates.
        #
        # @param _cause [String]
        def reopen_logs(_cause)
          @notifier.reload do
            @log_file.open_again
            Listening::Listeners.renew(@slots.flat_map(&:listeners))
            workers.each { |worker| worker.signal("HUP") }
          end
        end

        # Replaces the workers one by one.
        #
        # @param cause [String]
        def phased_restart(cause)
          return if @terminating || @drain_at

          Log.tell("#{cause}: #{OLD_CODE}") if @configuration.preload
          @restart = @slots.dup
          @notifier.restart
        end

        # Makes the workers log their backtraces.
        #
        # @param _cause [String]
        def print_backtraces(_cause)
          workers.each { |worker| worker.signal("TTIN") if worker.ready? }
        end

        private

        # Workers that are not killed here finish their requests, as they do when their supervisor is killed.
        def supervise
          @woke = Clock.now # the start of the current iteration: deadlines are compared with this time
          turn until @status || @slots.all?(&:ready?)
          begin_serving unless @status
          turn until @status
          end_workers
          @status
        rescue ConfigurationError
          unused_workers.each(&:kill)
          raise
        end

        # A worker that is ready has clients of a running server whose sockets it shares. It drains once this process ends.
        def unused_workers
          @handover.replacing? ? workers.reject(&:ready?) : workers
        end

        def begin_serving
          replace_predecessor
          @control&.serve(quiet: @configuration.quiet)
          Log.announce(banner) unless @configuration.quiet
          @serving = true
          @notifier.ready
        end

        def prepare
          if @configuration.preload
            app = @load_app.call
            @load_app = -> { app }
          end
          @configuration.before_fork_hooks.each(&:call)
        end

        # A second supervisor would take its parent's signals. After Process.daemon the process has no parent and continues.
        def refuse_second_supervisor
          raise ConfigurationError, "the supervisor was forked, and the forked process exits: " \
                                    "before_fork and a preloaded application must not fork without a block"
        end

        def workers
          @slots.flat_map(&:workers)
        end

        def fork_worker(slot)
          process = WorkerProcess.new(slot, @configuration, @log_file, @server_class, @load_app)
          Worker.fork(inherited_needlessly(slot), @configuration) { |status_writer, alive| process.run(status_writer, alive) }
        end

        def banner
          "Upwell #{VERSION} serves on #{Listening::Listeners.describe(@slots.first.listeners)} " \
            "(#{workers.first.backend}, #{@configuration.description}), #{@slots.size} workers"
        end

        # Waits for a signal, a worker's message or the next deadline, and handles the event.
        def turn
          @failed = false
          log_errors { await_event }
          log_errors { @signals.each { |name, at| handle_signal(name, at) } }
          workers.each { |worker| log_errors { worker.check(@woke) } }
          log_errors { drain_when_due }
          advance
          log_errors { @steering.update(@woke) } unless @terminating || hot_restart?
          report
          log_errors { end_drained }
          pause if @failed && !@status
        end

        def report
          log_errors { @notifier.tick(@woke, @restart) }
          log_errors { @control&.note_states(workers, @woke) }
        end

        def advance
          @restart.clear unless @slots.map { |slot| log_errors { slot.advance(@woke) } }.all?
          log_errors { @restart.shift.replace until @restart.empty? || @slots.any?(&:replacing?) }
          advance_hot_restart
        end

        # Once the workers serve, only a signal ends the supervisor. An error with one worker does not affect the others.
        def log_errors
          yield
        rescue StandardError, NoMemoryError => e
          raise unless @serving

          ExceptionLog.supervisor(e)
          @failed = true
        end

        # This pause does not count as lateness.
        def pause
          sleep(PAUSE)
          @woke = Clock.now
        end

        def await_event
          pipes = [*workers.filter_map(&:awaited), @handover.successor&.report].compact
          now = Clock.now
          deadlines = [*@slots.flat_map(&:deadlines), *@drain_at, *@notifications.deadline, *@handover.successor&.deadline]
          wait = [*deadlines.map { |deadline| deadline - now }, @interval].min.clamp(0..)
          IO.select([@signals.ends.first, *pipes], nil, nil, wait)
          before = @woke
          @woke = Clock.now
          notice_lateness(@woke - before - wait)
        end

        # The machine was suspended, or the terminal stopped the supervisor and its workers (Ctrl-Z), or the load is too high.
        def notice_lateness(seconds)
          return if seconds < @interval

          Log.tell(format("the supervisor did not run for %.1f s, as on a suspended or overloaded machine; " \
                          "the workers get this time in addition to their time-outs", seconds))
          workers.each { |worker| worker.excuse(seconds) }
        end

        def handle_signal(name, at)
          @commands.signal(name, at) unless name == END_OF_WORKER
        rescue StandardError => e # the other signals are still handled
          ExceptionLog.signal(e, name)
        end
      end
    end
  end
end
