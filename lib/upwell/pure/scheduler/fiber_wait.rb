# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # The wait of a fiber, from the blocking call to the event.
      class FiberWait
        # @return [Fiber]
        attr_reader :fiber
        # @return [Float, nil] on the clock of {Pure.now}
        attr_reader :deadline
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] the awaited IOs: to read, to write, urgent data
        attr_reader :ios
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] the ready ones among them
        attr_reader :found
        # @return [Float] seconds that the fiber computed before this wait, if measured
        attr_accessor :computed

        # @param ended [Array<Wait>] the list that receives the wait at its end
        # @param ios [Array(Array<IO>, Array<IO>, Array<IO>), nil]
        # @param timeout [Numeric, nil] seconds
        def initialize(ended, ios: nil, timeout: nil)
          @fiber = Fiber.current
          @ended = ended
          @ios = ios
          @deadline = Pure.now + timeout if timeout
          @over = @timed_out = @left = @cut_off = false
          @gives_way = timeout&.zero? || false
          @computed = 0.0
        end

        # @return [Boolean] whether an event has occurred, or the time is up
        def over?
          @over
        end

        # @return [Boolean]
        def timed_out?
          @timed_out
        end

        # @return [Boolean] whether the fiber waits for no event, and only lets others run first
        def gives_way?
          @gives_way
        end

        # @return [Boolean] whether the fiber has resumed
        def left?
          @left
        end

        # @return [void]
        def leave
          @left = true
        end

        # @return [Integer] the number of awaited IOs
        def descriptors
          @ios.flatten(1).uniq.size
        end

        # @param io [IO]
        # @param kinds [Array<Integer>] indexes of {#ios}
        # @return [Boolean]
        def for?(io, kinds)
          @ios.values_at(*kinds).any? { |ios| ios.any? { |other| other.equal?(io) } }
        end

        # Ends the wait because an IO was closed.
        #
        # @return [void]
        def cut_off
          @cut_off = true
          finish
        end

        # @return [Boolean]
        def cut_off?
          @cut_off
        end

        # @return [void]
        def finish
          @ended << self unless @over
          @over = true # the flag comes last, because an exception may interrupt this method
        end

        # @return [void]
        def expire
          @timed_out = true unless @over
          finish
        end

        # Ends the wait when one of its IOs is ready.
        #
        # @param ready [Array(Hash, Hash, Hash)] sets of the ready IOs, for each of the three lists
        # @return [void]
        def offer(ready)
          found = @ios.zip(ready).map { |wanted, set| wanted.select { |io| set.key?(io) } }
          return if found.all?(&:empty?)

          @found = found
          finish
        end
      end
    end
  end
end
