# frozen_string_literal: true

require_relative "fiber_batches"
require_relative "pending_exception"
require_relative "wakeup_sources"
require_relative "fiber_dispatcher"

module Upwell
  module Pure
    class Scheduler
      # The waiting fibers, and the ready fibers that run after events were collected.
      class Fibers
        include FiberBatches

        FORKED = "this process was forked while this fiber was waiting: only the parent process continues the wait; start a new fiber"
        private_constant :FORKED

        # @return [WakeupSources]
        attr_reader :events

        # @return [FiberDispatcher]
        attr_reader :dispatcher

        # @return [Integer] started fibers that have not ended
        attr_accessor :count

        def initialize
          @events = WakeupSources.new
          @dispatcher = FiberDispatcher.new
          @waits = {}.compare_by_identity
          @ready = [] # ended waits
          @batch = [] # ended waits of the current batch
          @between = [] # waits that ended during a batch, by the time their fibers have computed; they alternate with the batch
          @begun = nil # the last wait that began
          @looked = Pure.now # the time when events were last collected
          @due = [] # exceptions to raise now, or as soon as possible
          @count = 0
          @closed = false
          @process = Process.pid
        end

        # @return [Boolean] whether this process is a forked child, and this object a copy of the parent's
        def copy?
          @process != Process.pid
        end

        # @return [Hash{Symbol => Integer}]
        def stats
          { fibers: @count, waiting: @waits.size, operations: @events.polls, timers: @events.timers.size, turns: @events.turns }
        end

        # Suspends the current fiber until an event or the time-out.
        #
        # @return [FiberWait] the ended wait
        # @raise [Upwell::Error] when the scheduler was closed meanwhile
        def wait(ios: nil, timeout: nil)
          wait = FiberWait.new(@ready, ios: ios, timeout: timeout)
          suspended(wait) do
            @events.add(wait)
            give_way_until_over(wait)
          end
          wait
        end

        # Starts a fiber. The caller resumes when that fiber waits or ends.
        #
        # @return [void]
        def start(fiber)
          return @dispatcher.act { @dispatcher.transfer(fiber) } unless @dispatcher.waits?

          wait = FiberWait.new(@ready)
          suspended(wait) { @dispatcher.start(fiber, wait) }
        end

        # Resumes a waiting fiber with an exception. The caller resumes when that fiber waits or ends.
        #
        # @return [Boolean] whether the fiber waits here; otherwise the call has no effect
        def start_with(exception, fiber)
          return false unless @waits.each_key.any? { |wait| wait.fiber.equal?(fiber) }

          @dispatcher.hand_over(fiber, exception) { start(fiber) }
          true
        end

        # Records that the current fiber ends.
        #
        # @return [void]
        def end_current
          Pure.uninterrupted do
            @dispatcher.note(Fiber.current)
            @count -= 1
          end
        end

        # Lets all other ready fibers run first.
        #
        # @return [void]
        def yield
          wait = FiberWait.new(@ready)
          suspended(wait) do
            wait.finish
            give_way
          end
        end

        # Raises an exception into the current fiber if the block takes longer than the limit. The fiber must be waiting then.
        #
        # @param seconds [Numeric]
        # @param exception [Array] as for raise
        # @return [Object] the block's result
        def limit(seconds, exception)
          limit = PendingException.new(Fiber.current, exception, Pure.now + seconds, @due)
          @events.timers.add(limit)
          yield
        ensure
          Pure.uninterrupted { forget_limit(limit) if limit }
        end

        # Runs until no fiber waits.
        #
        # @return [void]
        def run
          @dispatcher.act do
            while goes_on?
              run_ready
              turn if goes_on?
            end
          end
        end

        # Raises an exception into all waiting fibers, and limits the time for their end.
        #
        # @param exception [Class]
        # @param seconds [Numeric] the limit
        # @return [void]
        def stop(exception, seconds)
          deadline = Pure.now + seconds
          @dispatcher.act do
            @waits.keys.map(&:fiber).each { |fiber| let_out(exception) { @dispatcher.raise_into(fiber, exception) if fiber.alive? } }
            while goes_on? && Pure.now < deadline
              turn(deadline - Pure.now)
              let_out(exception) { run_ready }
            end
          end
        end

        # @return [void]
        def close
          @closed = true
          @events.close
        end

        private

        # A trap handler may have forked the process.
        def goes_on?
          !copy? && pending?
        end

        def pending?
          @waits.any? || @dispatcher.pending? || @events.interrupts?
        end

        def forget_limit(limit)
          @events.timers.remove(limit)
          @due.delete_if { |due| due.equal?(limit) }
        end

        # Registers the wait, and removes it when the block returns or raises. Only the block publishes the wait, and exceptions of other threads
        # are deferred until the removal: a leftover would make #run wait for a dead fiber, or transfer to it.
        def suspended(wait)
          @waits[@begun = wait] = true
          @dispatcher.note(wait.fiber)
          yield
          returned = true
        ensure
          Pure.uninterrupted do
            @dispatcher.note_raised(wait.fiber) unless returned
            wait.leave
            @events.remove(wait)
            @waits.delete(wait)
          end
        end

        def give_way_until_over(wait)
          until wait.over?
            raise Error, "the scheduler was closed while this fiber was waiting; close the scheduler when its fibers have ended" if @closed

            give_way
          end
        end

        def give_way
          raise Error, FORKED if copy?
          return @dispatcher.go_on if @dispatcher.waits?

          @dispatcher.act do
            turn
            run_ready
          end
        end

        # Another library's fiber, such as a task of the gem async, may not rescue the exception that ends it.
        def let_out(exception)
          yield
        rescue exception, FiberError
          nil
        end

        # Runs the fibers that are ready now. Fibers that become ready meanwhile run after the next collection of events. A long batch is split.
        def run_ready
          return if copy?

          raise_due
          @dispatcher.run_starters
          Pure.uninterrupted { make_batch } if @batch.empty?
          run_some
          raise_due # the fibers that run first may wait by now
          @dispatcher.run_left
        end

        def raise_due
          @events.each_interrupt { |fiber, exception| @due << PendingException.new(fiber, [exception]) }
          @due.size.times { raise_first unless @due.empty? }
        end

        # An exception that cannot be raised yet is tried again after other fibers have run.
        def raise_first
          raising = nil
          Pure.uninterrupted { raising = @due.shift }
          @due << raising unless !raising.fiber.alive? || raised?(raising)
        rescue Exception # rubocop:disable Lint/RescueException -- another thread's, for example
          @due << raising if raising && !@dispatcher.gone_on? && raising.try_again?
          raise
        end

        def raised?(raising)
          !got_something?(raising.fiber) && @dispatcher.raise_into(raising.fiber, *raising.exception)
        end

        # Checks whether the fiber has a result, which it receives first.
        def got_something?(fiber)
          @events.unblocked?(fiber) || [@batch, @between, @ready].any? { |waits| waits.any? { |wait| wait.found && wait.fiber.equal?(fiber) } }
        end
      end
    end
  end
end
