# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    # Since Ruby 3.4, TCPSocket.new, and with it Net::HTTP, looks names up on threads of its own in C, so as to try several addresses at once; it
    # does not ask the scheduler then, and nobody else is served until it has found the name. Without this it asks.
    module FiberNames
      # If this Ruby has it.
      def self.establish
        Socket.tcp_fast_fallback = false if Socket.respond_to?(:tcp_fast_fallback=)
      end
    end
  end
end
