# frozen_string_literal: true

require_relative "due"
require_relative "events"
require_relative "root"

module Upwell
  module Pure
    class Scheduler
      # The fibers that wait, and those that go on after a turn of the events.
      class Fibers
        # @return [Events]
        attr_reader :events

        # @return [Root]
        attr_reader :root

        # @return [Integer] fibers started and not ended
        attr_accessor :count

        def initialize
          @events = Events.new
          @root = Root.new
          @waits = {}.compare_by_identity
          @ready = [] # waits that have ended
          @batch = [] # those that have their turn
          @due = [] # what is to be raised now, or as soon as it can be
          @count = 0
          @closed = false
          @process = Process.pid
        end

        # @return [Boolean] whether this process is the child of a fork, and all this its parent's
        def copy?
          @process != Process.pid
        end

        # @return [Hash{Symbol => Integer}]
        def stats
          { fibers: @count, waiting: @waits.size, operations: @events.polls, timers: @events.timers.size, turns: @events.turns }
        end

        # Suspends the current fiber until something has come or the time is up.
        #
        # @return [Wait] how that ended
        # @raise [Upwell::Error] when the scheduler was closed meanwhile
        def wait(ios: nil, timeout: nil)
          wait = Wait.new(@ready, ios: ios, timeout: timeout)
          suspended(wait) do
            @events.add(wait)
            give_way_until_over(wait)
          end
          wait
        end

        # Starts a fiber; the caller goes on when that one waits or ends.
        #
        # @return [void]
        def start(fiber)
          return @root.act { @root.transfer(fiber) } unless @root.waits?

          wait = Wait.new(@ready)
          suspended(wait) { @root.start(fiber, wait) }
        end

        # Starts it with an exception, likewise.
        #
        # @return [Boolean] whether it waits here; else nothing was done
        def start_with(exception, fiber)
          return false unless @waits.each_key.any? { |wait| wait.fiber.equal?(fiber) }

          @root.hand_over(fiber, exception) { start(fiber) }
          true
        end

        # The current fiber ends.
        #
        # @return [void]
        def end_current
          Pure.uninterrupted do
            @root.note(Fiber.current)
            @count -= 1
          end
        end

        # Has all others go on first that can.
        #
        # @return [void]
        def yield
          wait = Wait.new(@ready)
          suspended(wait) do
            wait.finish
            give_way
          end
        end

        # Raises an exception into the current fiber when it still is in the block after this time, as soon as it waits.
        #
        # @param seconds [Numeric]
        # @param exception [Array] as for raise
        # @return [Object] what the block returns
        def limit(seconds, exception)
          limit = Due.new(Fiber.current, exception, Pure.now + seconds, @due)
          @events.timers.add(limit)
          yield
        ensure
          Pure.uninterrupted { forget_limit(limit) if limit }
        end

        # Until no fiber waits any more.
        #
        # @return [void]
        def run
          @root.act do
            while goes_on?
              run_ready
              turn if goes_on?
            end
          end
        end

        # Raises into all fibers that wait, and gives them this time to end.
        #
        # @param exception [Class]
        # @param seconds [Numeric]
        # @return [void]
        def stop(exception, seconds)
          deadline = Pure.now + seconds
          @root.act do
            @waits.keys.map(&:fiber).each { |fiber| let_out(exception) { @root.raise_into(fiber, exception) if fiber.alive? } }
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

        # A trap handler may have forked.
        def goes_on?
          !copy? && pending?
        end

        def pending?
          @waits.any? || @root.pending? || @events.interrupts?
        end

        def turn(limit = nil)
          @events.turn(@ready.any? || @batch.any? || @root.pending? ? 0 : limit)
        end

        def forget_limit(limit)
          @events.timers.remove(limit)
          @due.delete_if { |due| due.equal?(limit) }
        end

        # Into the wait, and out of it when the block returns or something is raised. Whatever tells of the wait does so in the block, and what
        # others raise comes behind all that follows: #run would wait for what is left of a fiber that has ended, or transfer to it.
        def suspended(wait)
          @waits[wait] = true
          @root.note(wait.fiber)
          yield
          returned = true
        ensure
          Pure.uninterrupted do
            @root.note_raised(wait.fiber) unless returned
            wait.leave
            @events.remove(wait)
            @waits.delete(wait)
          end
        end

        def give_way_until_over(wait)
          until wait.over?
            raise Error, "the scheduler was closed while this fiber was waiting" if @closed

            give_way
          end
        end

        def give_way
          raise Error, "this process was forked while this fiber was waiting: its parent waits on" if copy?
          return @root.go_on if @root.waits?

          @root.act do
            turn
            run_ready
          end
        end

        # Where a fiber is another's, such as a task of the gem async, it may let out what is to end it.
        def let_out(exception)
          yield
        rescue exception, FiberError
          nil
        end

        # Those that are ready now: what they make ready has its turn after the events'.
        def run_ready
          return if copy?

          raise_due
          @root.run_starters
          @batch.concat(@ready)
          @ready.clear
          run_first until @batch.empty?
          raise_due # in those that had to go on first
          @root.run_left
        end

        # It is there until it has gone on, whatever is raised before.
        def run_first
          wait = @batch.first
          @root.transfer(wait.fiber) unless wait.left?
          @batch.shift if @batch.first.equal?(wait)
        end

        def raise_due
          @events.each_interrupt { |fiber, exception| @due << Due.new(fiber, [exception]) }
          @due.size.times { raise_first unless @due.empty? }
        end

        # What cannot be raised yet is tried again when others have gone on.
        def raise_first
          raising = nil
          Pure.uninterrupted { raising = @due.shift }
          @due << raising unless !raising.fiber.alive? || raised?(raising)
        rescue Exception # rubocop:disable Lint/RescueException -- another thread's, for example
          @due << raising if raising && !@root.gone_on? && raising.try_again?
          raise
        end

        def raised?(raising)
          !got_something?(raising.fiber) && @root.raise_into(raising.fiber, *raising.exception)
        end

        # It goes on with that first.
        def got_something?(fiber)
          @events.unblocked?(fiber) || [@batch, @ready].any? { |waits| waits.any? { |wait| wait.found && wait.fiber.equal?(fiber) } }
        end
      end
    end
  end
end
