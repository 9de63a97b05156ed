# frozen_string_literal: true

require_relative "worker"

module Upwell
  class Server
    # A supervisor with worker processes. It owns the listening sockets, one set a worker slot on the same ports (SO_REUSEPORT), and keeps them
    # open: a worker that is replaced leaves its backlog to its successor, so no connection is lost.
    #
    # SIGTERM and SIGINT drain all workers and exit 0; a second one kills them and exits 1. SIGHUP opens the log file again, here and in the
    # workers. SIGUSR1 replaces the workers one by one.
    class Cluster
      BACK_OFF_MIN = 0.1 # seconds before a worker that died is started again; doubled for each early death
      BACK_OFF_MAX = 10
      STEADY = 10 # seconds after which a worker's death is no early one
      BOOT_MAX = 60 # seconds for a worker to become ready
      DRAIN_MARGIN = 2 # seconds beyond the workers' own deadline

      # The place of one worker: its sockets outlive it.
      Slot = Struct.new(:index, :listeners, :worker, :failures, :start_at)

      # @param configuration [Configuration]
      # @param log_file [LogFile]
      # @yieldreturn [#call] the application
      def initialize(configuration, log_file, &load_app)
        @configuration = configuration
        @log_file = log_file
        @load_app = load_app
        @signals, @signal_writer = IO.pipe
      end

      # @return [Integer] the exit status
      def run
        @slots = open_slots
        preload if @configuration.preload
        @configuration.before_fork_hooks.each(&:call)
        trap_signals
        start_all
        puts "Upwell #{VERSION} serves on #{urls.join(", ")} (#{@configuration.mode}), #{@slots.size} workers"
        supervise until @done
        @status
      ensure
        remove_sockets
      end

      private

      def preload
        app = @load_app.call
        @load_app = -> { app }
      end

      def urls
        @slots.first.listeners.map(&:url)
      end

      def open_slots
        first = Listeners.new(@configuration, reuse_port: true).open
        Array.new(@configuration.workers) do |index|
          Slot.new(index, index.zero? ? first : share(first), nil, 0, nil)
        end
      end

      # Another socket for every TCP address, the same one for a UNIX socket.
      def share(listeners)
        listeners.map do |listener|
          next listener if listener.url.start_with?("unix:")

          address = listener.socket.local_address
          host = address.ipv6? ? "[#{address.ip_address}]" : address.ip_address
          same = Configuration.new({ bind: "#{host}:#{address.ip_port}" }, environment: {})
          Listeners.new(same, reuse_port: true).open.first
        end
      end

      def trap_signals
        %w[TERM INT HUP USR1 CHLD].each { |signal| trap(signal) { @signal_writer.write_nonblock("#{signal}\n", exception: false) } }
      end

      def start_all
        @slots.each { |slot| slot.worker = fork_worker(slot) }
        failed = @slots.find { |slot| !slot.worker.await_ready(BOOT_MAX) }
        return unless failed

        kill_all
        raise ConfigurationError, "worker #{failed.index} could not start; its message is above"
      end

      def fork_worker(slot)
        Worker.fork(slot.index, slot.listeners, @configuration, @log_file, @load_app, [@signals, @signal_writer])
      end

      # Waits for a signal, or for the time to start a worker again.
      def supervise
        readable, = @signals.wait_readable(next_start)
        @signals.gets.chomp.then { |signal| send(:"on_#{signal.downcase}") } if readable
        reap
        start_due
      end

      def next_start
        times = @slots.filter_map(&:start_at)
        times << @kill_at if @kill_at
        times.empty? ? nil : [times.min - now, 0].max
      end

      def on_term
        return kill_and_end if @terminating

        @terminating = true
        @kill_at = now + @configuration.drain_timeout + DRAIN_MARGIN
        @slots.each { |slot| slot.worker&.signal("TERM") }
      end
      alias on_int on_term

      def on_hup
        @log_file.open
        @slots.each { |slot| slot.worker&.signal("HUP") }
      end

      def on_chld; end

      # One slot at a time: the new worker is ready before the old one stops accepting.
      def on_usr1
        return if @terminating

        @slots.each { |slot| break if @terminating || !replace(slot) }
      end

      def replace(slot)
        successor = fork_worker(slot)
        unless successor.await_ready(BOOT_MAX)
          successor.signal("KILL")
          successor.await_end
          warn "Upwell: the new worker #{slot.index} could not start; the old one goes on, and the restart ends here"
          return false
        end
        old = slot.worker
        slot.worker = successor
        old&.signal("TERM")
        old&.await_end
        puts "Upwell: worker #{slot.index} was replaced (#{old&.pid} by #{successor.pid})"
        true
      end

      def reap
        @slots.each { |slot| bury(slot) if slot.worker&.ended? }
        finish if @terminating && @slots.none?(&:worker)
        kill_and_end if @kill_at && now >= @kill_at && !@done
      end

      def bury(slot)
        worker = slot.worker
        slot.worker = nil
        @failed = true if @terminating && !worker.status.success?
        return if @terminating

        slot.failures = worker.age > STEADY ? 0 : slot.failures + 1
        wait = [BACK_OFF_MIN * (2**slot.failures), BACK_OFF_MAX].min
        slot.start_at = now + wait
        warn "Upwell: worker #{slot.index} (#{worker.pid}) died: #{worker.status}; starting another in #{wait.round(1)} s"
      end

      def start_due
        return if @terminating

        @slots.each do |slot|
          next unless slot.start_at && now >= slot.start_at

          slot.start_at = nil
          slot.worker = fork_worker(slot)
        end
      end

      def finish
        @status = @failed ? 1 : 0
        @done = true
      end

      def kill_and_end
        kill_all
        warn "Upwell ended with requests in flight"
        @status = 1
        @done = true
      end

      def kill_all
        @slots.filter_map(&:worker).each do |worker|
          worker.signal("KILL")
          worker.await_end
        end
      end

      def remove_sockets
        (@slots || []).flat_map(&:listeners).map(&:url).uniq.grep(/\Aunix:/).each { |url| File.unlink(url.delete_prefix("unix:")) }
      rescue Errno::ENOENT
        nil
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
