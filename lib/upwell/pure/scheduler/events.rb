# frozen_string_literal: true

require_relative "../waiter"
require_relative "timers"
require_relative "wait"

module Upwell
  module Pure
    class Scheduler
      # What ends waits: IOs that are ready, deadlines, and {#unblock}, by which other threads do it.
      class Events
        LONGEST_WAIT = 86_400 # seconds; IO.select takes no infinite number
        private_constant :LONGEST_WAIT

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
          @turns = 0
        end

        # @return [Integer] descriptors that are waited for, each as often as a fiber does
        def polls
          @polls.keys.sum(&:descriptors)
        end

        # @param wait [Wait]
        # @return [void]
        def add(wait)
          wait.ios ? @polls[wait] = true : @blocked[wait.fiber] = wait
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

        # @return [Boolean] whether {#interrupt} was asked for
        def interrupts?
          !@interrupts.empty?
        end

        # @return [Array(Fiber, Exception), nil] the next of them
        def next_interrupt
          @interrupts.pop unless @interrupts.empty?
        end

        # Waits until something has come, and ends the waits for it.
        #
        # @param limit [Numeric, nil] seconds
        # @return [void]
        def turn(limit)
          ready = Pure.blocking { @waiter.wait { whom_and_how_long(limit) } }
          @turns += 1
          offer(ready) unless ready.all?(&:empty?)
          end_unblocked
          @timers.expire(Pure.now)
        end

        # @return [void]
        def close
          @waiter.close
        end

        private

        def whom_and_how_long(limit)
          readers, writers, urgent = @polls.keys.map(&:ios).transpose.map { |lists| lists.flatten(1) }
          [readers || [], writers || [], timeout(limit), urgent || []]
        end

        def timeout(limit)
          return 0 unless @unblocked.empty? && @interrupts.empty?

          deadline = @timers.next_deadline
          [deadline && [deadline - Pure.now, 0].max, limit, LONGEST_WAIT].compact.min
        end

        def offer(ready)
          sets = ready.map { |ios| ios.each_with_object({}.compare_by_identity) { |io, set| set[io] = true } }
          @polls.each_key { |wait| wait.offer(sets) }
        end

        def end_unblocked
          until @unblocked.empty?
            unblocked = @unblocked.pop
            wait = unblocked.is_a?(Fiber) ? @blocked[unblocked] : unblocked
            wait&.finish
          end
        end
      end
    end
  end
end
