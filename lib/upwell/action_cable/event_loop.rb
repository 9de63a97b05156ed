# frozen_string_literal: true

module Upwell
  module ActionCable
    # Replaces Action Cable's event loop, which has hijacked sockets, timers, and threads for blocking work. A subscription with the adapter
    # `upwell` does not block. It runs immediately, so later work cannot overtake it, and the threads never start.
    class EventLoop < ::ActionCable::Connection::StreamEventLoop
      # @param server [::ActionCable::Server::Base]
      def initialize(server)
        super()
        @server = server
      end

      # :nodoc:
      def post(task = nil, &block)
        @server.config.cable["adapter"] == "upwell" ? (task || block).call : super
      end
    end
  end
end
