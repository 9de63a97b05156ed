# frozen_string_literal: true

require_relative "forked_child_exit"

module Upwell
  module Pure
    class Scheduler
      # The fiber that collects events. It transfers to each ready fiber, and that fiber transfers back when it waits again. A fiber that cannot
      # transfer back, such as one that the thread's own fiber resumes, is the root itself meanwhile.
      class FiberDispatcher
        # JRuby's Fiber#raise resumes a fiber that was transferred to. That fiber then cannot transfer back.
        HANDS_EXCEPTIONS_OVER = RUBY_ENGINE == "jruby"
        private_constant :HANDS_EXCEPTIONS_OVER

        def initialize
          @fiber = nil
          @waits = false
          @running = nil # the last fiber known to have resumed
          @starters = [] # waits of fibers that have started another, and resume when it waits or ends; the last first
          @handed = {}.compare_by_identity # the exceptions that fibers raise as soon as they resume
          @left = [] # fibers that have raised into another, which did not return to them
        end

        # @return [Boolean] whether the root has resumed a fiber, and can be transferred to
        def waits?
          @waits
        end

        # @return [Boolean] whether there are fibers to resume that wait for no event
        def pending?
          @left.any? || @starters.any?
        end

        # Makes the current fiber the root while the block runs.
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

        # Resumes the root from another fiber.
        #
        # @return [void]
        def go_on
          @fiber.transfer
          raise_handed
        end

        # Resumes a fiber until it waits or ends, and then the fibers that started others meanwhile.
        #
        # @return [void]
        def transfer(fiber)
          transfer_to(fiber)
          run_starters
        end

        # Runs a new fiber. The caller is another fiber than the root, and the wait is the caller's.
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

        # Raises an exception into a fiber.
        #
        # @param exception [Array] as for raise
        # @return [Boolean] false when that was impossible: on Ruby 3.1, when the fiber has resumed another one (an enumerator's, for example)
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

        # Makes a waiting fiber raise an exception when it resumes, within the block. The exception is created here, as in Fiber#raise.
        #
        # @return [Object] the block's result
        def hand_over(fiber, exception)
          @handed[fiber] = made(*exception)
          yield
        ensure
          @handed.delete(fiber)
        end

        # @return [Boolean] whether the fiber with the last raised exception has resumed
        def gone_on?
          !@running.nil?
        end

        # Records that a fiber is about to wait or to end. A fiber that was left resumes early when an exception is raised into it.
        #
        # @return [void]
        def note(fiber)
          return unless @waits

          note_raised(fiber) if @left.delete(fiber)
          @running = fiber
        end

        # Records an exception in a fiber. The raising fiber transfers to that fiber, which transfers to the root when it waits or ends.
        #
        # @return [void]
        def note_raised(fiber)
          @left << @running if @running && @running != fiber
          @running = fiber
        end

        # Each wait remains in the list until its fiber has resumed.
        #
        # @return [void]
        def run_starters
          transfer_to(@starters.last.fiber) until @starters.empty?
        end

        # @return [void]
        def run_left
          run_last_left until @left.empty?
        end

        private

        # The order is last to first: a fiber may have raised into one that raised into another as it ended. A fiber that was resumed otherwise,
        # or that has resumed another, continues without the scheduler.
        def run_last_left
          fiber = nil
          Pure.uninterrupted { fiber = @left.pop }
          transfer(fiber)
        rescue FiberError
          nil
        rescue Exception # rubocop:disable Lint/RescueException -- another thread's, for example, perhaps before it has gone on
          @left.push(fiber) if fiber
          raise
        end

        def transfer_to(fiber)
          @running = fiber
          @waits = true
          ForkedChildExit.guard { fiber.transfer }
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
          ForkedChildExit.guard { HANDS_EXCEPTIONS_OVER ? hand_over(fiber, exception) { fiber.transfer } : fiber.raise(*exception) }
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
