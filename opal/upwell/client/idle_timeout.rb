# backtick_javascript: true
# frozen_string_literal: true

require "upwell/timer_milliseconds"

module Upwell
  class Client
    # The idle time-out of a client: after the given time without data the client is pinged, and then has a limited time to answer.
    class IdleTimeout
      ANSWER = 10 # seconds
      SECONDS_MAX = 1_000_000_000

      # @return [Float]
      attr_reader :seconds

      # @param seconds [Numeric] 0: never
      # @yieldparam asked [Boolean] whether a ping was sent already
      def initialize(seconds, &missed)
        @seconds = seconds.to_f
        @missed = missed
        @asked = false
        @timer = nil
      end

      # @param seconds [Numeric] counted from now on
      def seconds=(seconds)
        value = Float(seconds)
        unless value.between?(0, SECONDS_MAX)
          raise ArgumentError, "the timeout of a client must be a number of seconds from 0 to #{SECONDS_MAX}, not #{value}"
        end

        @seconds = value
        self.begin
      end

      def begin
        broken
        wait(@seconds) unless @ended
      end

      # Restarts the time-out after received data.
      def broken
        `self.heard = Date.now()`
        @asked = false
      end

      def end
        @ended = true
        `clearTimeout(self.timer)`
        @timer = nil
      end

      private

      def wait(seconds)
        `clearTimeout(self.timer)`
        return @timer = nil if @seconds.zero?

        milliseconds = TimerMilliseconds.of(seconds)
        %x{
          self.timer = setTimeout(() => #{look}, milliseconds);
          self.timer.unref();
        }
      end

      def look
        left = (@asked ? ANSWER : @seconds) - `(Date.now() - (self.asked ? self.question : self.heard)) / 1000`
        return wait(left) if left.positive?

        asked = @asked
        @asked = true
        `self.question = Date.now()`
        wait(ANSWER)
        @missed.call(asked)
      end
    end
  end
end
