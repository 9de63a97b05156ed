# frozen_string_literal: true

require "async"
require "forwardable"

module Upwell
  # Includes {Tasks} once the gem async has asked for it.
  class Scheduler
    # What the gem async asks of a scheduler: `Async`, `Sync` and all that is made of tasks run on ours, beside other fibers. Is loaded with the
    # first task.
    module Tasks
      # At the top of the tree of tasks.
      class Root < ::Async::Node
        extend Forwardable

        def_delegators :@scheduler, :async, :resume, :push, :raise, :transfer, :yield, :with_timeout, :interrupt, :load

        # @param scheduler [Scheduler]
        def initialize(scheduler)
          super()
          @scheduler = scheduler
        end

        # A task has ended.
        #
        # @return [void]
        def consume
          super
          @scheduler.end_transient
        end

        # @return [Integer] tasks that have begun and not ended
        def size
          traverse.count { |node, _level| node.is_a?(::Async::Task) && node.alive? }
        end

        public :add_child
      end

      # In the versions of async for Ruby 3.1 and 3.2 a node stands for a fiber, and transfers to it past the scheduler.
      module FiberNode
        # @return [void]
        def transfer(*values)
          Fiber.scheduler.is_a?(Tasks) ? Fiber.scheduler.resume(@fiber, *values) : super
        end
      end
      ::Async::Condition.const_get(:FiberNode).prepend(FiberNode) if ::Async::Condition.const_defined?(:FiberNode, false)

      # What `with_timeout` gives to a block that wants to see it, or change it.
      class Timers
        # A time that is waited for.
        class Handle
          # @return [Float]
          attr_reader :time
          # @return [Proc, nil] none once it was cancelled
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
      # @return [Object] what it is resumed with
      def transfer
        block(self)
        passed.delete(Fiber.current)
      end

      # Has a fiber go on; the current one does when that one waits or ends.
      #
      # @param fiber [Fiber]
      # @return [nil]
      def resume(fiber, *values)
        return fiber.transfer(*values) unless fiber.is_a?(Fiber)

        passed[fiber] = values.first unless values.empty?
        switch_to(fiber)
      end

      # Has it go on, or do its work, after the others.
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

      # In a fiber that waits; without one, as Kernel#raise.
      #
      # @param fiber [Fiber]
      # @return [nil]
      def raise(fiber = nil, *exception, **options)
        return Kernel.raise(*[fiber, *exception].compact, **options) unless fiber.is_a?(Fiber)

        fiber.raise(*exception, **options)
        nil
      end

      # @param duration [Numeric] seconds
      # @return [Object] what the block returns
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

      # @return [Float] how busy it is, from 0 to 1, of which nothing is known here
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

      # Goes before the scheduler's own methods.
      module Ending
        # As {Scheduler#run}; tasks that are transient are ended with the last of the others.
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

          @running = false # once
          @tasks.terminate
          @running = true
        end
      end
    end

    include Tasks
    prepend Tasks::Ending
  end
end
