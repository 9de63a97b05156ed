# frozen_string_literal: true

require_relative "../waiter"
require_relative "closing"
require_relative "timers"
require_relative "wait"

module Upwell
  module Pure
    class Scheduler
      # What ends waits: IOs that are ready, deadlines, and {#unblock}, by which other threads do it.
      class Events
        # @return [Integer] how often it was waited
        attr_reader :turns

        # @return [Timers]
        attr_reader :timers

        def initialize
          @waiter = Waiter.new
          @timers = Timers.new
          @polls = {}.compare_by_identity # the waits for IOs
          @blocked = {}.compare_by_identity # the others, by their fibers
          @unblocked = Thread::Queue.new # waits; or fibers, whose wait was still to come
          @interrupts = Thread::Queue.new
          @closed = Thread::Queue.new # IOs, and which of those that wait for one are concerned
          @filling = nil
          @turns = 0
          Closing.tell(self)
        end

        # @return [Integer] descriptors that are waited for, each as often as a fiber does
        def polls
          @polls.keys.sum(&:descriptors)
        end

        # @param wait [Wait]
        # @return [void]
        def add(wait)
          @filling = nil # whoever did has left
          wait.ios ? add_poll(wait) : @blocked[wait.fiber] = wait
          @timers.add(wait) if wait.deadline
        end

        # @param wait [Wait]
        # @return [void]
        def remove(wait)
          wait.ios ? @polls.delete(wait) : @blocked.delete(wait.fiber)
          @timers.remove(wait) if wait.deadline
        end

        # Ends the wait of a fiber, or the one that it is about to begin. Safe in every thread and in trap handlers.
        #
        # @param fiber [Fiber]
        # @return [void]
        def unblock(fiber)
          @unblocked << (@blocked[fiber] || fiber)
          @waiter.interrupt
        end

        # Ends the wait of a fiber that is about to go on.
        #
        # @param fiber [Fiber]
        # @return [void]
        def end_wait(fiber)
          @blocked[fiber]&.finish
        end

        # Whether a fiber was unblocked and has not gone on yet. What woke it, a queue's element for example, would be lost with an exception.
        #
        # @param fiber [Fiber]
        # @return [Boolean]
        def unblocked?(fiber)
          end_unblocked
          wait = @blocked[fiber]
          !wait.nil? && wait.over? && !wait.timed_out?
        end

        # Safe likewise.
        #
        # @return [void]
        def interrupt(fiber, exception)
          @interrupts << [fiber, exception]
          @waiter.interrupt
        end

        # Ends the waits for an IO that is closed now. Safe likewise.
        #
        # @param io [IO]
        # @param kinds [Array<Integer>] of Closing::ALL
        # @return [void]
        def cut_off(io, kinds)
          return unless @polls.any? && !@waiter.copy?

          @closed << [io, kinds]
          @waiter.interrupt
        end

        # An IO is another file now, for which a wait in progress does not wait. Safe likewise.
        #
        # @return [void]
        def look_again
          @waiter.interrupt if @polls.any? && !@waiter.copy?
        end

        # The current fiber is about to fill a buffer of Ruby's, and does so until it has left the hook for it, or a fiber of its thread waits.
        #
        # @param io [IO] that has the buffer
        # @return [void]
        def fill(io)
          @filling = [io, Fiber.current, Thread.current]
        end

        # @param io [IO]
        # @return [Boolean] whether a fiber fills its buffer and must have left first: not where this is the fiber's own thread
        def filling?(io)
          other, fiber, thread = @filling
          other.equal?(io) && !@waiter.copy? && thread != Thread.current && thread.alive? && in_hook?(fiber)
        end

        # @return [Boolean] whether {#interrupt} was asked for
        def interrupts?
          !@interrupts.empty?
        end

        # @yieldparam fiber [Fiber]
        # @yieldparam exception [Exception]
        # @return [void]
        def each_interrupt(&block)
          take_each(@interrupts, &block)
        end

        # Waits until something has come, and ends the waits for it.
        #
        # @param limit [Numeric, nil] seconds
        # @return [void]
        def turn(limit)
          ready = Pure.blocking { @waiter.wait { whom_and_how_long(limit) } }
          @turns += 1
          end_cut_off
          offer(ready) unless ready.all?(&:empty?)
          end_unblocked
          @timers.expire(Pure.now)
        end

        # @return [void]
        def close
          @waiter.close
        end

        private

        def in_hook?(fiber)
          fiber.backtrace_locations&.any? { |location| location.base_label == "io_read" }
        end

        # In this order: whoever shuts one down from here on tells of it.
        def add_poll(wait)
          @polls[wait] = true
          wait.cut_off if wait.ios[1].any? { |io| shut?(io) }
        end

        # Of a socket that is shut down, and full, a poll does not tell.
        def shut?(io)
          Pure.blocking { io.wait_writable(0) } if io.is_a?(BasicSocket)
          false
        rescue IOError # not opened for writing
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

        # What another thread raises has to wait: Ruby raises it when a method ends, too, and what `pop` returns would be lost.
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
