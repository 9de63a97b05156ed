# frozen_string_literal: true

require_relative "slot"
require_relative "steering"
require_relative "worker_process"

module Upwell
  class Server
    # A supervisor with worker processes. It owns the listening sockets, one set a worker slot on the same ports (SO_REUSEPORT), and keeps them
    # open: a worker that is replaced leaves its backlog to its successor, so no connection is lost.
    #
    # A worker that gives no sign of life is killed, and so replaced like any that dies. Meanwhile new clients go to the others ({Steering}).
    #
    # SIGTERM and SIGINT drain all workers and exit 0 (1 when requests had to be given up); a second one kills them and exits 1. SIGHUP opens the
    # log file and reads the certificates again, here and in the workers. SIGUSR1 replaces the workers one by one: each goes on until its
    # successor is ready. SIGTTIN has the workers tell where their threads are.
    class Cluster
      HARMLESS_SIGNALS = %w[HUP USR1 USR2 TTIN].freeze
      SIGNALS = %w[TERM INT CHLD].freeze
      SIGNALS_BYTES_MAX = 4096 # read at once
      PAUSE = 1 # seconds after a turn that failed

      # @param configuration [Configuration]
      # @param log_file [LogFile]
      # @param server [Class] what serves the application
      # @yieldreturn [#call] the application
      def initialize(configuration, log_file, server: Server, &load_app)
        @configuration = configuration
        @log_file = log_file
        @server_class = server
        @load_app = load_app
        @slots = []
        @restart = [] # the slots whose workers are still to be replaced
        @signals, @signal_writer = IO.pipe
        @interval = Heartbeat.interval(configuration.worker_timeout)
      end

      # @return [Integer] the exit status
      # @raise [ConfigurationError] when an address cannot be listened on, or a worker cannot start
      def run
        process = Process.pid
        Title.set("supervisor")
        open_slots
        trap("TTOU", "IGNORE") # would stop the process
        trap_signals(HARMLESS_SIGNALS) # loading the application may take its time
        prepare
        refuse_second_supervisor if Process.ppid == process
        trap_signals(HARMLESS_SIGNALS + SIGNALS) # again: it may have taken some, as workers take theirs back
        supervise
      ensure
        Listeners.remove(@slots.flat_map(&:listeners)) if Process.pid == process # what the application forks may end by here, too
      end

      private

      # Workers that are not killed here end as those whose supervisor was killed: they finish what they have.
      def supervise
        @woke = Clock.now # when the current turn began: what is late is so by then, wherever the process is stopped
        turn until @status || @slots.all?(&:ready?)
        Log.announce(banner) unless @status || @configuration.quiet
        @serving = true
        turn until @status
        kill_workers
        @status
      rescue ConfigurationError
        kill_workers
        raise
      end

      def kill_workers
        workers.each(&:kill)
      end

      def open_slots
        sets = Listeners.new(@configuration, reuse_port: true).open_sets(@configuration.workers * @configuration.loops)
        @slots = sets.each_slice(@configuration.loops).with_index.map do |own, index|
          Slot.new(index, own.flatten(1), @configuration.drain_timeout) { |slot| fork_worker(slot) }
        end
        @steering = Steering.new(@slots, @configuration.loops)
      end

      def prepare
        if @configuration.preload
          app = @load_app.call
          @load_app = -> { app }
        end
        @configuration.before_fork_hooks.each(&:call)
      end

      # It would take its parent's signals. What Process.daemon leaves has no parent, and goes on.
      def refuse_second_supervisor
        raise ConfigurationError, "the supervisor was forked, and its child does not serve: " \
                                  "before_fork and a preloaded application must not fork without a block"
      end

      def workers
        @slots.flat_map(&:workers)
      end

      def fork_worker(slot)
        process = WorkerProcess.new(slot, @configuration, @log_file, @server_class, @load_app)
        Worker.fork(inherited_needlessly(slot), @configuration) { |voice, alive| process.run(voice, alive) }
      end

      # A worker that kept these would hold its siblings' ports and pipes open after the supervisor's death.
      def inherited_needlessly(slot)
        foreign = (@slots - [slot]).flat_map(&:listeners) - slot.listeners
        [@signals, @signal_writer, *foreign.map(&:socket), *workers.flat_map(&:pipes)]
      end

      # A new worker has these handlers until it sets its own: what it gets meanwhile is not for the supervisor.
      def trap_signals(signals)
        supervisor = Process.pid
        signals.each do |signal|
          trap(signal) { @signal_writer.write_nonblock("#{signal}\n", exception: false) if Process.pid == supervisor }
        end
      end

      def banner
        "Upwell #{VERSION} serves on #{@slots.first.listeners.map(&:url).uniq.join(", ")} " \
          "(#{workers.first.backend}, #{@configuration.description}), #{@slots.size} workers"
      end

      # Waits for a signal, for what a worker tells, or for the time to do something; and does it.
      def turn
        @failed = false
        at_any_rate { await_event }
        at_any_rate { take_signals }
        workers.each { |worker| at_any_rate { worker.check(@woke) } }
        advance
        at_any_rate { @steering.update(@woke) } unless @terminating
        at_any_rate { end_drained } if @terminating && !@status
        pause if @failed && !@status
      end

      def advance
        @restart.clear unless @slots.map { |slot| at_any_rate { slot.advance(@woke) } }.all?
        at_any_rate { @restart.shift.replace until @restart.empty? || @slots.any?(&:replacing?) }
      end

      # Once the workers serve, nothing but a signal ends their supervisor, and what one of them does wrong concerns no other.
      def at_any_rate
        yield
      rescue StandardError, NoMemoryError => e
        raise unless @serving

        ErrorLog.supervisor(e)
        @failed = true
      end

      # That is no lateness.
      def pause
        sleep(PAUSE)
        @woke = Clock.now
      end

      # Whatever a slot makes of the end of its worker.
      def end_drained
        return unless workers.all?(&:ended?)

        @status = @slots.all?(&:finished?) ? 0 : 1
      end

      def await_event
        pipes = workers.filter_map(&:awaited)
        now = Clock.now
        wait = [*@slots.flat_map(&:deadlines).map { |deadline| deadline - now }, @interval].min.clamp(0..)
        IO.select([@signals, *pipes], nil, nil, wait)
        before = @woke
        @woke = Clock.now
        notice_lateness(@woke - before - wait)
      end

      # The machine was suspended, or a terminal has stopped supervisor and workers (Ctrl-Z), or there is far too much to do.
      def notice_lateness(seconds)
        return if seconds < @interval

        Log.tell(format("the supervisor did not run for %.1f s: its workers are given as much more time", seconds))
        workers.each { |worker| worker.excuse(seconds) }
      end

      def take_signals
        names = @signals.read_nonblock(SIGNALS_BYTES_MAX, exception: false)
        names.split.each { |name| obey(name) } unless names == :wait_readable
      end

      def obey(name)
        case name
        when "TERM", "INT" then terminate(name)
        when "HUP" then read_again
        when "USR1" then @restart = @slots.dup unless @terminating
        when "USR2" then Log.tell("SIGUSR2 has no meaning here; SIGUSR1 replaces the workers one by one")
        when "TTIN" then workers.each { |worker| worker.signal("TTIN") if worker.ready? }
        end
      rescue StandardError => e # those that came with it are obeyed, too
        ErrorLog.signal(e, name)
      end

      def terminate(name)
        return give_up(name) if @terminating

        @terminating = true
        Title.set("supervisor, draining")
        Log.tell("SIG#{name}: the workers end, #{Termination.sentence(nil, @configuration.drain_timeout)}; a second signal kills them")
        @restart.clear
        Listeners.remove(@slots.flat_map(&:listeners))
        @slots.each { |slot| at_any_rate { slot.drain } }
      end

      def give_up(name)
        Log.tell("SIG#{name} again: ended with requests in flight")
        @status = 1
      end

      # Workers that come later inherit the certificates.
      def read_again
        @log_file.open_again
        Listeners.renew(@slots.flat_map(&:listeners))
        workers.each { |worker| worker.signal("HUP") }
      end
    end
  end
end
