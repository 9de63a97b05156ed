# frozen_string_literal: true

require_relative "socket"

module Upwell
  module ActionCable
    # Extends Action Cable's WebSocket: it uses the server's client if there is one, and the hijacked socket otherwise.
    module WebSocket
      # @see Socket#initialize
      def initialize(env, connection, event_loop, protocols: ::ActionCable::INTERNAL[:protocols])
        env["rack.upgrade?"] == :websocket ? @websocket = Socket.new(env, connection, protocols) : super
      end

      # @return [Boolean] whether the server itself serves the client
      def served_here?
        @websocket.is_a?(Socket)
      end
    end
  end
end
