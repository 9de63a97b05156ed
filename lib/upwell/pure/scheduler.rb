# frozen_string_literal: true

require_relative "scheduler/fibers"
require_relative "scheduler/io_hooks"
require_relative "scheduler/on_jruby" if RUBY_ENGINE == "jruby" && Upwell::Pure.asked?
require_relative "scheduler/raising"
require_relative "scheduler/windows"
require_relative "scheduler/writing"
require_relative "stats"

module Upwell
  module Pure
    # {Upwell::Scheduler} on `IO.select`, where there is no extension: what is in ext/upwell/scheduler_*.c there. The methods are described
    # there. Files are read and written at once, as IO.select finds them always ready, so there are no hooks for places in them.
    class Scheduler
      include IOHooks
      include Windows if WINDOWS
      include OnJRuby if const_defined?(:OnJRuby)

      # Raised in the fibers that still wait when their scheduler is interrupted; it ends them without a report.
      class Stop < Exception; end # rubocop:disable Lint/InheritException

      STOP_SECONDS = 1 # for the `ensure` clauses of fibers that are ended by the scheduler's end
      CLOSE_SECONDS = 0.001 # between looks whether an IO can be closed
      CLOSERS = %w[close close_read close_write].freeze # which wait until it can
      NO_STATS = { fibers: 0, waiting: 0, operations: 0, timers: 0, turns: 0 }.freeze
      private_constant :STOP_SECONDS, :CLOSE_SECONDS, :CLOSERS, :NO_STATS

      # @return [String] "select"
      attr_reader :backend

      # @param storage [Hash, nil, true] as for Fiber.new, since Ruby 3.2
      # @return [Fiber]
      def fiber(storage: true, &block)
        raise ArgumentError, "a block is needed: it is what the fiber runs" unless block

        fiber = new_fiber(fibers, storage, &block)
        fibers.start(fiber)
        fiber
      end

      # @return [nil]
      def yield
        fibers.yield
        nil
      end

      # @return [Boolean] whether it was unblocked before the time was up
      def block(blocker, timeout = nil)
        wait = fibers.wait(timeout: seconds(timeout))
        !wait.timed_out?
      ensure
        pass_on(blocker) if !wait && blocker.is_a?(Thread::Mutex)
      end

      # @return [nil]
      def unblock(_blocker, fiber)
        @fibers&.events&.unblock(fiber)
        nil
      end

      # @return [nil]
      def fiber_interrupt(fiber, exception)
        @fibers&.events&.interrupt(fiber, exception)
        nil
      end
      remove_method :fiber_interrupt if RUBY_VERSION < "4.0"

      # @return [true]
      def kernel_sleep(duration = nil)
        block(:sleep, duration || closing_time)
        true
      end

      # @return [Object] what the block returns
      def timeout_after(duration, *exception)
        limit = seconds(duration)
        return yield(duration) unless limit

        fibers.limit(limit, exception) { yield duration }
      end

      # @return [Process::Status]
      def process_wait(pid, flags)
        poll_process(pid, flags)
      end

      # @return [nil]
      def run
        check_not_running(fibers)
        fibers.run
        raise_error
      end

      # @return [nil]
      def close
        return if @closed

        forget_copies
        check_not_running(@fibers) if @fibers
        run_and_end
        nil
      end

      # @return [Boolean]
      def closed?
        @closed
      end

      # @return [Hash{Symbol => Integer}]
      def stats
        @fibers ? @fibers.stats : NO_STATS
      end

      # @private
      # @return [Boolean] whether it was raised into a fiber that waits here
      def raise_into(fiber, exception)
        !@fibers.nil? && fibers.start_with(exception, fiber)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if it is used in this process and not closed
      def stats_here
        return unless @fibers && @process == Process.pid

        counted = @fibers.stats.slice(:fibers, :waiting, :operations, :timers)
        { schedulers: 1, descriptors: counted[:operations], **counted }
      end

      private

      def choose(backend)
        Pure.check_asks
        @backend = Pure.backend(backend)
        @fibers = @error = nil
        @closed = false
        Stats.count(self)
      end

      # Has a fiber go on, whatever it waits for; the current one goes on when that one waits or ends.
      def switch_to(fiber)
        fibers.events.end_wait(fiber)
        fibers.start(fiber)
      end

      # IO#close sleeps until the threads that use the IO have left it, which wake a thread and not its fibers: it is to look again.
      def closing_time
        CLOSE_SECONDS if CLOSERS.include?(caller_locations(2, 1).first&.base_label)
      end

      # Anew in a child process, which has the current fiber only.
      def fibers
        return @fibers if @fibers && @process == Process.pid
        raise Error, "this scheduler is closed: set a new one with Fiber.set_scheduler" if @closed

        @process = Process.pid
        @fibers = Fibers.new
      end

      # In the child of a fork the fibers are those of its parent still, which it must not end.
      def forget_copies
        @fibers = nil unless @process == Process.pid
      end

      def seconds(duration)
        return unless duration
        raise TypeError, "can't convert #{duration.class} into time interval" unless duration.respond_to?(:divmod)

        seconds = Float(duration)
        raise ArgumentError, "a time must be a number of seconds from 0 on, not #{duration}" unless seconds >= 0

        seconds
      end

      # A mutex wakes one of those that wait for it. When an exception takes that one away before it has locked the mutex, the next has to be
      # woken, which Ruby leaves undone.
      def pass_on(mutex)
        mutex.unlock if mutex.try_lock
      end

      def raise_error
        error = @error
        @error = nil
        raise error if error
      end

      def new_fiber(fibers, storage, &block)
        options = RUBY_VERSION < "3.2" ? {} : { storage: storage }
        Fiber.new(blocking: false, **options) { ChildEnd.guard { run_fiber(fibers, &block) } }
      end

      # An error ends its fiber and no other: it is reported now, and raised when all fibers have ended. What ends the process, or the
      # thread, passes on to the root at once.
      def run_fiber(fibers)
        fibers.count += 1
        yield
      rescue SystemExit, SignalException
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException
        raise if fibers.copy?

        note_error(e) unless e.is_a?(Stop)
      ensure
        fibers.end_current
      end

      def note_error(error)
        @error ||= error
        report(error)
      end

      def check_not_running(fibers)
        raise Error, "this scheduler runs already: its fibers can neither run nor close it" if fibers.root.waits?
      end

      def run_and_end
        begin
          run if @fibers && thread_goes_on?
        ensure
          end_fibers
        end
      rescue Exception # rubocop:disable Lint/RescueException -- whatever it is
        leave_thread
        raise
      end

      # A thread that is killed, or ends in an exception, does not wait for its fibers.
      def thread_goes_on?
        $!.nil? && Thread.current.status != "aborting" # rubocop:disable Style/SpecialGlobalVars
      end

      # Ruby 3.1 would keep a scheduler whose closing has failed, and ask it in all that runs at the end of the process.
      def leave_thread
        Fiber.set_scheduler(nil) if Fiber.scheduler.equal?(self)
      end

      def end_fibers
        @fibers&.stop(Stop, STOP_SECONDS)
      ensure
        @closed = true
        @fibers&.close
        @fibers = nil
        end_workers
      end
    end
  end
end
