# frozen_string_literal: true

require_relative "events"
require_relative "root"

module Upwell
  module Pure
    class Scheduler
      # The fibers that wait, and those that go on after a turn of the events.
      class Fibers
        # Raised into a fiber whose time is up.
        Limit = Struct.new(:fiber, :exception, :deadline, :due) do
          # @return [void]
          def expire
            due << self
          end
        end
        private_constant :Limit

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
          @due = [] # limits whose time is up
          @count = 0
          @closed = false
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
          @events.add(wait)
          suspended(wait) { give_way_until_over(wait) }
          wait
        ensure
          @events.remove(wait) if wait
        end

        # Starts a fiber; the caller goes on when that one waits or ends.
        #
        # @return [void]
        def start(fiber)
          return @root.act { @root.transfer(fiber) } unless @root.waits?

          wait = Wait.new(@ready)
          suspended(wait) { @root.start(fiber, wait) }
        end

        # Has all others go on first that can.
        #
        # @return [void]
        def yield
          wait = Wait.new(@ready)
          wait.finish
          suspended(wait) { give_way }
        end

        # Raises an exception into the current fiber when it still is in the block after this time, as soon as it waits.
        #
        # @param seconds [Numeric]
        # @param exception [Array] as for raise
        # @return [Object] what the block returns
        def limit(seconds, exception)
          limit = Limit.new(Fiber.current, exception, Pure.now + seconds, @due)
          @events.timers.add(limit)
          yield
        ensure
          if limit
            @events.timers.remove(limit)
            @due.delete_if { |due| due.equal?(limit) }
          end
        end

        # Until no fiber waits any more.
        #
        # @return [void]
        def run
          @root.act do
            while pending?
              run_ready
              turn if pending?
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
            @waits.keys.map(&:fiber).each { |fiber| raise_into(fiber, exception) }
            while pending? && Pure.now < deadline
              turn(deadline - Pure.now)
              run_ready
            end
          end
        end

        # @return [void]
        def close
          @closed = true
          @events.close
        end

        private

        def pending?
          @waits.any? || @root.pending? || @events.interrupts?
        end

        def turn(limit = nil)
          @events.turn(@ready.any? || @batch.any? || @root.pending? ? 0 : limit)
        end

        # Into the wait, and out of it when the block returns or something is raised.
        def suspended(wait)
          @waits[wait] = true
          @root.note(wait.fiber)
          yield
          returned = true
        ensure
          @root.note_raised(wait.fiber) unless returned
          wait.leave
          @waits.delete(wait)
        end

        def give_way_until_over(wait)
          until wait.over?
            raise Error, "the scheduler was closed while this fiber was waiting" if @closed

            give_way
          end
        end

        def give_way
          return @root.go_on if @root.waits?

          @root.act do
            turn
            run_ready
          end
        end

        # Those that are ready now: what they make ready has its turn after the events'.
        def run_ready
          raise_due
          raise_interrupts
          @root.run_starters
          @batch.concat(@ready.shift(@ready.size))
          while (wait = @batch.shift)
            @root.transfer(wait.fiber) unless wait.left?
          end
          raise_due # in those that had to go on first
          @root.run_left
        end

        def raise_due
          again = []
          while (limit = @due.shift)
            next again << limit if @events.unblocked?(limit.fiber)

            begin
              @root.raise_into(limit.fiber, *limit.exception)
            rescue FiberError
              again << limit # it has resumed another: it is tried again when that has waited
            end
          end
        ensure
          @due.concat(again)
        end

        def raise_interrupts
          while (fiber, exception = @events.next_interrupt)
            raise_into(fiber, exception)
          end
        end

        def raise_into(fiber, exception)
          @root.raise_into(fiber, exception) if fiber.alive?
        end
      end
    end
  end
end
