# frozen_string_literal: true

module Upwell
  module ActionCable
    # For Action Cable's connections: what the server's clients say is served where the server tells it, like a request and in its order, and
    # not by Action Cable's own threads. Executor, reloader, log tags and errors are those of its worker.
    module Connection
      # :nodoc:
      def on_open
        served_here? ? serve(:handle_open) : super
      end

      # :nodoc: When `connect` has failed, Action Cable would keep for good what is said.
      def on_message(message)
        super if !served_here? || message_buffer.processing?
      end

      # :nodoc:
      def receive(message)
        served_here? ? serve(:dispatch_websocket_message, message) : super
      end

      # :nodoc:
      def on_close(reason, code)
        served_here? ? serve(:handle_close) : super
      end

      # :nodoc:
      def served_here?
        websocket.served_here?
      end

      # :nodoc:
      def transmit_encoded(message)
        websocket.transmit(message)
      end

      private

      # The server's present pool: the connection's own does no more once Action Cable was restarted, and the end is to be told all the same.
      def serve(method, *arguments)
        server.worker_pool.invoke(self, method, *arguments, connection: self)
      end
    end
  end
end
