# frozen_string_literal: true

module Upwell
  module ActionCable
    # Action Cable's own has hijacked sockets, timers, and threads for what may wait. Subscribing with the adapter `upwell` does not wait: done
    # at once it cannot be overtaken, and the threads are never started.
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
