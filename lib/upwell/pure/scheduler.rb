# frozen_string_literal: true

require_relative "scheduler/hook_caller"
require_relative "scheduler/duration_conversion"
require_relative "scheduler/fibers"
require_relative "scheduler/io_hooks"
require_relative "scheduler/on_jruby" if RUBY_ENGINE == "jruby" && Upwell::Pure.asked?
require_relative "scheduler/fiber_raise"
require_relative "scheduler/windows_nonblocking_io"
require_relative "scheduler/joined_writes"
require_relative "object_counts"

module Upwell
  module Pure
    # {Upwell::Scheduler} on `IO.select`, for Ruby without the extension; the methods correspond to ext/upwell/scheduler_*.c and are documented
    # there. Regular files are read and written directly, since IO.select always reports them ready. So there are no hooks for pread and pwrite.
    class Scheduler
      include HookCaller
      include DurationConversion
      include IOHooks
      include WindowsNonblockingIO if WINDOWS
      include OnJRuby if const_defined?(:OnJRuby)

      # Raised in waiting fibers when their scheduler is interrupted. The exception ends them without a report.
      class Stop < Exception; end # rubocop:disable Lint/InheritException

      STOP_SECONDS = 1 # for `ensure` clauses of fibers that end with the scheduler
      CLOSE_SECONDS = 0.001 # between checks whether an IO can be closed
      CLOSERS = %w[close close_read close_write].freeze # these wait until the IO can be closed
      NO_STATS = { fibers: 0, waiting: 0, operations: 0, timers: 0, turns: 0 }.freeze
      private_constant :STOP_SECONDS, :CLOSE_SECONDS, :CLOSERS, :NO_STATS

      # @return [String] "select"
      attr_reader :backend

      # @param storage [Hash, nil, true] as for Fiber.new, since Ruby 3.2
      # @return [Fiber]
      def fiber(storage: true, &block)
        raise ArgumentError, "no block given: the fiber needs a block to run" unless block

        fiber = new_fiber(fibers, storage, &block)
        fibers.start(fiber)
        fiber
      end

      # @return [nil]
      def yield
        fibers.yield
        nil
      end

      # @return [Boolean] whether the fiber was unblocked before the time was up
      def block(blocker, timeout = nil)
        wait = fibers.wait(timeout: seconds_to_block(timeout))
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
        block(:sleep, seconds(duration) || closing_time)
        true
      end

      # @return [Object] the block's result
      def timeout_after(duration, *exception)
        raise LocalJumpError, "no block given" unless block_given?

        limit = seconds_or_forever(duration)
        return yield(duration) unless limit

        fibers.limit(limit, exception) { yield duration }
      end

      # @return [Process::Status]
      def process_wait(pid, flags)
        poll_process(pid, ArgumentConversion.integer(flags))
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
      # @return [Boolean] whether the exception was raised into a fiber that waits here
      def raise_into(fiber, exception)
        !@fibers.nil? && fibers.start_with(exception, fiber)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if the scheduler is used in this process and not closed
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
        ObjectCounts.count(self)
      end

      # Resumes a fiber, whatever it waits for. The current fiber resumes when that fiber waits or ends.
      def switch_to(fiber)
        fibers.events.end_wait(fiber)
        fibers.start(fiber)
      end

      # IO#close sleeps until other threads have left the IO. They wake only a thread, not its fibers, so this fiber checks repeatedly.
      def closing_time
        CLOSE_SECONDS if CLOSERS.include?(asked_by("kernel_sleep"))
      end

      # The fibers are created again in a child process, which has only the current fiber.
      def fibers
        return @fibers if @fibers && @process == Process.pid
        raise Error, "this scheduler is closed: set a new one with Fiber.set_scheduler" if @closed

        @process = Process.pid
        @fibers = Fibers.new
      end

      # In a forked child the fibers still belong to the parent, and the child must not end them.
      def forget_copies
        @fibers = nil unless @process == Process.pid
      end

      # A mutex wakes one of its waiting fibers. If an exception interrupts that fiber before it locks the mutex, Ruby does not wake the next
      # one, so this method does.
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
        Fiber.new(blocking: false, **options) { ForkedChildExit.guard { run_fiber(fibers, &block) } }
      end

      # An error ends only its own fiber. It is reported now, and raised when all fibers have ended. An exception that ends the process or the
      # thread passes to the root immediately.
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

      # $stderr may be closed or full.
      def note_error(error)
        @error ||= error
        report(error)
      rescue SystemExit, SignalException
        raise
      rescue Exception # rubocop:disable Lint/RescueException -- the other fibers go on
        nil
      end

      def check_not_running(fibers)
        raise Error, "this scheduler is already running: its fibers and signal handlers cannot call run or close" if fibers.dispatcher.waits?
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

      # A thread that is killed, or that ends with an exception, does not wait for its fibers.
      def thread_goes_on?
        $!.nil? && Thread.current.status != "aborting" # rubocop:disable Style/SpecialGlobalVars
      end

      # Ruby 3.1 would keep a scheduler whose close has failed, and call it while the process exits.
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
