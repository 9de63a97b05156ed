# frozen_string_literal: true

require "async"
require "forwardable"

module Upwell
  # The scheduler includes {AsyncGemTasks} when the gem async first uses it.
  class Scheduler
    # The interface that the gem async expects of a scheduler. `Async`, `Sync` and tasks run on this scheduler, beside other fibers. The first
    # task loads this module.
    module AsyncGemTasks
      # The root of the tree of tasks.
      class Root < ::Async::Node
        extend Forwardable

        def_delegators :@scheduler, :async, :resume, :push, :raise, :transfer, :yield, :with_timeout, :interrupt, :load

        # @param scheduler [Scheduler]
        def initialize(scheduler)
          super()
          @scheduler = scheduler
        end

        # Called when a task has ended.
        #
        # @return [void]
        def consume
          super
          @scheduler.end_transient
        end

        # @return [Integer] the number of started tasks that have not ended
        def size
          traverse.count { |node, _level| node.is_a?(::Async::Task) && node.alive? }
        end

        public :add_child
      end

      # In the versions of async for Ruby 3.1 and 3.2, a node represents a fiber and would transfer to it without the scheduler.
      module FiberNode
        # @return [void]
        def transfer(*values)
          Fiber.scheduler.is_a?(AsyncGemTasks) ? Fiber.scheduler.resume(@fiber, *values) : super
        end
      end
      ::Async::Condition.const_get(:FiberNode).prepend(FiberNode) if ::Async::Condition.const_defined?(:FiberNode, false)

      # The object that `with_timeout` yields to a block that reads or changes the time-out.
      class Timers
        # A timer.
        class Handle
          # @return [Float]
          attr_reader :time
          # @return [Proc, nil] nil once the timer is cancelled
          attr_reader :block

          def initialize(time, block)
            @time = time
            @block = block
            @cancelled = false
            @fiber = Fiber.scheduler.fiber { expire }
          end

          # @return [void]
          def cancel!
            return if @cancelled

            @cancelled = true
            @block = nil
            Fiber.scheduler.unblock(self, @fiber) if @fiber&.alive?
          end

          # @return [Boolean]
          def cancelled?
            @cancelled
          end

          private

          def expire
            seconds = @time - Process.clock_gettime(Process::CLOCK_MONOTONIC)
            Fiber.scheduler.kernel_sleep(seconds) if seconds.positive?
            return if @cancelled

            @cancelled = true
            @block.call
          end
        end

        # @return [Float]
        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # Adds a timer.
        #
        # @param time [Float]
        # @return [Handle]
        def schedule(time, block)
          Handle.new(time, block)
        end
      end

      # @return [Async::Task]
      def async(*arguments, **options, &block)
        (::Async::Task.current? || self).then { |parent| ::Async::Task.new(parent, **options, &block) }.tap { |task| task.run(*arguments) }
      end

      # Suspends the current fiber until it is resumed or pushed.
      #
      # @return [Object] the value with which it is resumed
      def transfer
        block(self)
        passed.delete(Fiber.current)
      end

      # Resumes a fiber. The current fiber resumes when that fiber waits or ends.
      #
      # @param fiber [Fiber]
      # @return [nil]
      def resume(fiber, *values)
        return fiber.transfer(*values) unless fiber.is_a?(Fiber)

        passed[fiber] = values.first unless values.empty?
        switch_to(fiber)
      end

      # Schedules a fiber or other object behind the ready ones.
      #
      # @param object [Fiber, #transfer]
      # @return [nil]
      def push(object)
        return unblock(self, object) if object.is_a?(Fiber)

        fiber do
          self.yield
          object.transfer if object.alive?
        end
        nil
      end

      # Raises an exception in a waiting fiber; without a fiber, as Kernel#raise.
      #
      # @param fiber [Fiber]
      # @return [nil]
      def raise(fiber = nil, *exception, **options)
        return Kernel.raise(*[fiber, *exception].compact, **options) unless fiber.is_a?(Fiber)

        fiber.raise(*exception, **options)
        nil
      end

      # Limits the time of a block.
      #
      # @param duration [Numeric] seconds
      # @return [Object] the block's result
      def with_timeout(duration, exception = ::Async::TimeoutError, message = "execution expired", &block)
        return timeout_after(duration, exception, message) { yield } if block.arity.zero?

        fiber = Fiber.current
        timers = Timers.new
        timer = timers.schedule(timers.now + duration, -> { fiber.raise(exception, message) })
        timeout = ::Async::Timeout.new(timers, timer)
        yield timeout
      ensure
        timeout&.cancel!
      end

      # @return [Float] the load from 0 to 1, which is unknown here
      def load
        0.0
      end

      # @return [void]
      def interrupt
        nil
      end

      # @return [Array<Async::Node>, nil] the tasks
      def children
        tasks.children
      end

      # @return [void]
      def print_hierarchy(...)
        tasks.print_hierarchy(...)
      end

      private

      def tasks
        @tasks ||= Root.new(self)
      end

      def passed
        @passed ||= {}.compare_by_identity
      end

      # Prepended before the scheduler's own methods.
      module Ending
        # Runs until all tasks have ended, see {Scheduler#run}. Transient tasks end with the last other task.
        #
        # @return [nil]
        def run
          @running = true
          end_transient
          super
        ensure
          @running = false
        end

        # @return [Fiber]
        def fiber(**options, &block)
          super do
            block.call
          ensure
            end_transient
          end
        end

        # @private
        # @return [void]
        def end_transient
          return if !@running || !@tasks&.children? || !@tasks.finished? || stats[:waiting] > @tasks.size

          @running = false # the tasks are ended once
          @tasks.terminate
          @running = true
        end
      end
    end

    include AsyncGemTasks
    prepend AsyncGemTasks::Ending
  end
end
