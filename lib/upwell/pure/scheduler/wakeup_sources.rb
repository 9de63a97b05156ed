# frozen_string_literal: true

require_relative "../interruptible_select"
require_relative "io_close"
require_relative "timers"
require_relative "fiber_wait"

module Upwell
  module Pure
    class Scheduler
      # The sources that end waits: ready IOs, deadlines, and {#unblock}, which other threads call.
      class WakeupSources
        # @return [Integer] the number of waits in the kernel
        attr_reader :turns

        # @return [Timers]
        attr_reader :timers

        def initialize
          @select = InterruptibleSelect.new
          @timers = Timers.new
          @polls = {}.compare_by_identity # the waits for IOs
          @blocked = {}.compare_by_identity # the other waits, by their fibers
          @unblocked = Thread::Queue.new # waits; or fibers whose wait has not begun
          @interrupts = Thread::Queue.new
          @closed = Thread::Queue.new # closed IOs with the kinds of waits that end
          @filling = nil
          @turns = 0
          IOClose.tell(self)
        end

        # @return [Integer] descriptors that fibers wait for, counted once per fiber
        def polls
          @polls.keys.sum(&:descriptors)
        end

        # Adds a wait.
        #
        # @param wait [FiberWait]
        # @return [void]
        def add(wait)
          @filling = nil # the fiber that filled a buffer has left the hook
          wait.ios ? add_poll(wait) : @blocked[wait.fiber] = wait
          @timers.add(wait) if wait.deadline
        end

        # Removes a wait.
        #
        # @param wait [FiberWait]
        # @return [void]
        def remove(wait)
          wait.ios ? @polls.delete(wait) : @blocked.delete(wait.fiber)
          @timers.remove(wait) if wait.deadline
        end

        # Ends the current or next wait of a fiber. Any thread and any trap handler may call this method.
        #
        # @param fiber [Fiber]
        # @return [void]
        def unblock(fiber)
          @unblocked << (@blocked[fiber] || fiber)
          @select.interrupt
        end

        # Ends the wait of a fiber that is about to resume.
        #
        # @param fiber [Fiber]
        # @return [void]
        def end_wait(fiber)
          @blocked[fiber]&.finish
        end

        # Checks whether a fiber was unblocked and has not resumed yet. An exception would then lose the element of a queue, for example.
        #
        # @param fiber [Fiber]
        # @return [Boolean]
        def unblocked?(fiber)
          end_unblocked
          wait = @blocked[fiber]
          !wait.nil? && wait.over? && !wait.timed_out?
        end

        # Requests an exception in a fiber. Any thread and any trap handler may call this method.
        #
        # @return [void]
        def interrupt(fiber, exception)
          @interrupts << [fiber, exception]
          @select.interrupt
        end

        # Ends the waits for a closed IO. Any thread and any trap handler may call this method.
        #
        # @param io [IO]
        # @param kinds [Array<Integer>] of IOClose::ALL
        # @return [void]
        def cut_off(io, kinds)
          return unless @polls.any? && !@select.copy?

          @closed << [io, kinds]
          @select.interrupt
        end

        # Restarts the wait in progress, because an IO now refers to another file. Any thread and any trap handler may call this method.
        #
        # @return [void]
        def look_again
          @select.interrupt if @polls.any? && !@select.copy?
        end

        # Notes that the current fiber is about to fill a buffer of Ruby. The note is valid until the fiber leaves the hook or a fiber waits.
        #
        # @param io [IO] the owner of the buffer
        # @return [void]
        def fill(io)
          @filling = [io, Fiber.current, Thread.current]
        end

        # @param io [IO]
        # @return [Boolean] whether a fiber of another thread fills the IO's buffer and must leave the hook first
        def filling?(io)
          other, fiber, thread = @filling
          other.equal?(io) && !@select.copy? && thread != Thread.current && thread.alive? && in_hook?(fiber)
        end

        # @return [Boolean] whether requests of {#interrupt} wait
        def interrupts?
          !@interrupts.empty?
        end

        # Yields the requests of {#interrupt}, and removes them.
        #
        # @yieldparam fiber [Fiber]
        # @yieldparam exception [Exception]
        # @return [void]
        def each_interrupt(&block)
          take_each(@interrupts, &block)
        end

        # Waits for events, and ends the fibers' waits for them.
        #
        # @param limit [Numeric, nil] seconds
        # @return [void]
        def turn(limit)
          ready = Pure.blocking { @select.wait { whom_and_how_long(limit) } }
          @turns += 1
          end_cut_off
          offer(ready) unless ready.all?(&:empty?)
          end_unblocked
          @timers.expire(Pure.now)
        end

        # @return [void]
        def close
          @select.close
        end

        private

        def in_hook?(fiber)
          fiber.backtrace_locations&.any? { |location| location.base_label == "io_read" }
        end

        # The order matters: a shutdown after the first line is reported as an event.
        def add_poll(wait)
          @polls[wait] = true
          wait.cut_off if wait.ios[1].any? { |io| shut?(io) }
        end

        # A poll does not report a socket that is shut down and whose buffer is full.
        def shut?(io)
          Pure.blocking { io.wait_writable(0) } if io.is_a?(BasicSocket)
          false
        rescue IOError # the socket is not open for writing
          true
        end

        def whom_and_how_long(limit)
          readers, writers, urgent = @polls.keys.map(&:ios).transpose.map { |lists| lists.flatten(1) }
          [readers || [], writers || [], timeout(limit), urgent || []]
        end

        def timeout(limit)
          return 0 unless @unblocked.empty? && @interrupts.empty? && @closed.empty?

          deadline = @timers.next_deadline
          [deadline && [deadline - Pure.now, 0].max, limit].compact.min
        end

        def offer(ready)
          sets = ready.map { |ios| Pure.by_identity(ios) }
          @polls.each_key { |wait| wait.offer(sets) }
        end

        def end_cut_off
          take_each(@closed) { |io, kinds| @polls.each_key { |wait| wait.cut_off if wait.for?(io, kinds) } }
        end

        def end_unblocked
          take_each(@unblocked) do |unblocked|
            wait = unblocked.is_a?(Fiber) ? @blocked[unblocked] : unblocked
            wait&.finish
          end
        end

        def take_each(queue, &block)
          take_one(queue, &block) until queue.empty?
        end

        # Exceptions of other threads are deferred: Ruby also raises them when a method returns, and the result of `pop` would be lost.
        def take_one(queue)
          Pure.uninterrupted do
            taken = queue.pop
            yield taken
          rescue Exception # rubocop:disable Lint/RescueException -- a trap handler's, for example, for which nothing waits
            queue << taken if taken
            raise
          end
        end
      end
    end
  end
end
