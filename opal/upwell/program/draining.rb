# backtick_javascript: true
# frozen_string_literal: true

require "upwell/timer_milliseconds"

module Upwell
  class Program < Command
    # Drains a server, up to a deadline.
    class Draining
      # @param server [Server]
      # @param seconds [Numeric]
      def initialize(server, seconds)
        @server = server
        @seconds = seconds
      end

      # Drains the server.
      #
      # @yieldparam finished [Boolean] whether all requests were finished
      def run(&ended)
        milliseconds = TimerMilliseconds.of(@seconds)
        timer = `setTimeout(() => #{ended.call(false)}, milliseconds)`
        @server.drain do
          `clearTimeout(timer)`
          ended.call(true)
        end
      end
    end
  end
end
