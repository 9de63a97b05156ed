# frozen_string_literal: true

require_relative "socket"

module Upwell
  module ActionCable
    # For Action Cable's WebSocket: has the server's client where the server has one, and the hijacked socket else.
    module WebSocket
      # @see Socket#initialize
      def initialize(env, connection, event_loop, protocols: ::ActionCable::INTERNAL[:protocols])
        env["rack.upgrade?"] == :websocket ? @websocket = Socket.new(env, connection, protocols) : super
      end

      # @return [Boolean] whether the server itself talks to the client
      def served_here?
        @websocket.is_a?(Socket)
      end
    end
  end
end
