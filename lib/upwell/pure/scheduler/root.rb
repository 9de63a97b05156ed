# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # The fiber that has the events' turns. It transfers to every other that may go on, which transfers back when it waits again. A fiber
      # that cannot go back there, as one that the thread's own fiber resumes, is the root itself meanwhile.
      class Root
        def initialize
          @fiber = nil
          @waits = false
          @running = nil # the last fiber that is known to have gone on
          @starters = [] # waits of fibers that have started another, and go on when it waits or ends; the last first
          @left = [] # fibers that have raised into another, which did not come back to them
        end

        # @return [Boolean] whether it has let another go on, and can be transferred to
        def waits?
          @waits
        end

        # @return [Boolean] whether fibers are to go on that wait for nothing else
        def pending?
          @left.any? || @starters.any?
        end

        # The current fiber is the root while the block runs.
        #
        # @return [void]
        def act
          before = @fiber
          @fiber = Fiber.current
          yield
        ensure
          @waits = false
          @fiber = before
        end

        # From another fiber: has the root go on.
        #
        # @return [void]
        def go_on
          @fiber.transfer
        end

        # Lets a fiber go on until it waits or ends, and then those that started others meanwhile.
        #
        # @return [void]
        def transfer(fiber)
          transfer_to(fiber)
          run_starters
        end

        # From another fiber than the root, whose wait this is: lets a new one run.
        #
        # @return [void]
        def start(fiber, wait)
          @starters << wait
          @running = fiber
          fiber.transfer
        end

        # @param exception [Array] as for raise
        # @return [void]
        # @raise [FiberError] on Ruby 3.1 when the fiber has resumed another, such as an enumerator's
        def raise_into(fiber, *exception)
          raise(*exception) if fiber == Fiber.current

          @waits = true
          fiber.raise(*exception)
        ensure
          @waits = false
        end

        # To be told of each fiber that is about to wait or ends. One that was left goes on early when it is raised into in its turn.
        #
        # @return [void]
        def note(fiber)
          return unless @waits

          note_raised(fiber) if @left.delete(fiber)
          @running = fiber
        end

        # And of each that is raised into. Whoever does that transfers to it; and this one, when it waits or ends, to the root.
        #
        # @return [void]
        def note_raised(fiber)
          @left << @running if @running && @running != fiber
          @running = fiber
        end

        # @return [void]
        def run_starters
          while (wait = @starters.pop)
            transfer_to(wait.fiber) unless wait.left?
          end
        end

        # A fiber that has been resumed otherwise meanwhile, or has resumed another, goes on without us.
        #
        # @return [void]
        def run_left
          while (fiber = @left.shift)
            begin
              transfer(fiber)
            rescue FiberError
              @waits = false
            end
          end
        end

        private

        def transfer_to(fiber)
          @running = fiber
          @waits = true
          fiber.transfer
          @waits = false
          @running = nil
        end
      end
    end
  end
end
