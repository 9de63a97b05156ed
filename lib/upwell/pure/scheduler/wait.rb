# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # A fiber's stay between the call that blocks it and what it waits for.
      class Wait
        # @return [Fiber]
        attr_reader :fiber
        # @return [Float, nil] as {Pure.now} counts
        attr_reader :deadline
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] what it waits for: to read, to write, urgent data
        attr_reader :ios
        # @return [Array(Array<IO>, Array<IO>, Array<IO>), nil] those of them that are ready
        attr_reader :found

        # @param ended [Array<Wait>] where it puts itself at its end
        # @param ios [Array(Array<IO>, Array<IO>, Array<IO>), nil]
        # @param timeout [Numeric, nil] seconds
        def initialize(ended, ios: nil, timeout: nil)
          @fiber = Fiber.current
          @ended = ended
          @ios = ios
          @deadline = Pure.now + timeout if timeout
          @over = @timed_out = @left = @cut_off = false
        end

        # @return [Boolean] what was waited for has come, or the time is up
        def over?
          @over
        end

        # @return [Boolean]
        def timed_out?
          @timed_out
        end

        # @return [Boolean] whether the fiber has gone on
        def left?
          @left
        end

        # @return [void]
        def leave
          @left = true
        end

        # @return [Integer] how many IOs it waits for
        def descriptors
          @ios.flatten(1).uniq.size
        end

        # @param io [IO]
        # @param kinds [Array<Integer>] places in {#ios}
        # @return [Boolean]
        def for?(io, kinds)
          @ios.values_at(*kinds).any? { |ios| ios.any? { |other| other.equal?(io) } }
        end

        # Ends, as an IO was closed.
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
          @over = true # and not before: something may be raised between
        end

        # @return [void]
        def expire
          @timed_out = true unless @over
          finish
        end

        # Ends when one of its IOs is ready.
        #
        # @param ready [Array(Hash, Hash, Hash)] for each of the lists the IOs that are ready, as keys
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
