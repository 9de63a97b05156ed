# backtick_javascript: true
# frozen_string_literal: true

require "upwell/milliseconds"

module Upwell
  class Client
    # After so much silence it is asked whether the client is there, and then it has its time to answer.
    class Silence
      ANSWER = 10 # seconds
      SECONDS_MAX = 1_000_000_000

      # @return [Float]
      attr_reader :seconds

      # @param seconds [Numeric] 0: never
      # @yieldparam asked [Boolean] whether it has been asked already
      def initialize(seconds, &missed)
        @seconds = seconds.to_f
        @missed = missed
        @asked = false
        @timer = nil
      end

      # @param seconds [Numeric] from now on
      def seconds=(seconds)
        value = Float(seconds)
        raise ArgumentError, "a time-out is a number of seconds, or 0" unless value.between?(0, SECONDS_MAX)

        @seconds = value
        self.begin
      end

      def begin
        broken
        wait(@seconds) unless @ended
      end

      # It is there.
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

        milliseconds = Milliseconds.of(seconds)
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
