# frozen_string_literal: true

require_relative "child_end"

module Upwell
  module Pure
    class Scheduler
      # The fiber that has the events' turns. It transfers to every other that may go on, which transfers back when it waits again. A fiber
      # that cannot go back there, as one that the thread's own fiber resumes, is the root itself meanwhile.
      class Root
        # Fiber#raise of JRuby resumes a fiber that was transferred to, which then cannot transfer back.
        HANDS_EXCEPTIONS_OVER = RUBY_ENGINE == "jruby"
        private_constant :HANDS_EXCEPTIONS_OVER

        def initialize
          @fiber = nil
          @waits = false
          @running = nil # the last fiber that is known to have gone on
          @starters = [] # waits of fibers that have started another, and go on when it waits or ends; the last first
          @handed = {}.compare_by_identity # what fibers are to raise as soon as they go on
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
          @running = nil
          @fiber = before
        end

        # From another fiber: has the root go on.
        #
        # @return [void]
        def go_on
          @fiber.transfer
          raise_handed
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
          raise_handed
        ensure
          Pure.uninterrupted { @starters.delete_at(@starters.rindex(wait) || @starters.size) }
        end

        # @param exception [Array] as for raise
        # @return [Boolean] whether that could be done: on Ruby 3.1 it cannot when the fiber has resumed another, such as an enumerator's
        def raise_into(fiber, *exception)
          @running = nil
          fiber == Fiber.current ? raise_here(fiber, exception) : raise_there(fiber, exception)
          @running = nil
          true
        rescue FiberError
          @running = nil
          false
        ensure
          @waits = false
        end

        # Has a fiber that waits raise an exception itself when it goes on, which is in the block, if at all. The exception is made here, as it
        # is by Fiber#raise.
        #
        # @return [Object] what the block returns
        def hand_over(fiber, exception)
          @handed[fiber] = made(*exception)
          yield
        ensure
          @handed.delete(fiber)
        end

        # @return [Boolean] whether the fiber that was raised into last has gone on
        def gone_on?
          !@running.nil?
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

        # Each is there until it has gone on.
        #
        # @return [void]
        def run_starters
          transfer_to(@starters.last.fiber) until @starters.empty?
        end

        # @return [void]
        def run_left
          run_first_left until @left.empty?
        end

        private

        # A fiber that has been resumed otherwise meanwhile, or has resumed another, goes on without us.
        def run_first_left
          fiber = nil
          Pure.uninterrupted { fiber = @left.shift }
          transfer(fiber)
        rescue FiberError
          nil
        rescue Exception # rubocop:disable Lint/RescueException -- another thread's, for example, perhaps before it has gone on
          @left.unshift(fiber) if fiber
          raise
        end

        def transfer_to(fiber)
          @running = fiber
          @waits = true
          ChildEnd.guard { fiber.transfer }
        ensure
          @waits = false
          @running = nil
        end

        def raise_here(fiber, exception)
          @running = fiber
          raise(*exception)
        end

        def raise_there(fiber, exception)
          @waits = true
          ChildEnd.guard { HANDS_EXCEPTIONS_OVER ? hand_over(fiber, exception) { fiber.transfer } : fiber.raise(*exception) }
        end

        def made(kind = "unhandled exception", message = nil, backtrace = nil, **options)
          exception = kind.respond_to?(:exception) ? kind.exception(*message, **options) : RuntimeError.new(kind)
          exception.set_backtrace(backtrace) if backtrace
          exception
        end

        def raise_handed
          return if @handed.empty?

          exception = @handed.delete(Fiber.current)
          raise exception if exception
        end
      end
    end
  end
end
