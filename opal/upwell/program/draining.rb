# backtick_javascript: true
# frozen_string_literal: true

require "upwell/milliseconds"

module Upwell
  class Program < Command
    # A server finishes what is in flight, for so long at most.
    class Draining
      # @param server [Server]
      # @param seconds [Numeric]
      def initialize(server, seconds)
        @server = server
        @seconds = seconds
      end

      # @yieldparam finished [Boolean] whether everything in flight was finished
      def run(&ended)
        milliseconds = Milliseconds.of(@seconds)
        timer = `setTimeout(() => #{ended.call(false)}, milliseconds)`
        @server.drain do
          `clearTimeout(timer)`
          ended.call(true)
        end
      end
    end
  end
end
