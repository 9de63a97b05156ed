# frozen_string_literal: true

module Upwell
  module ActionCable
    # Extends Action Cable's connections: the server runs a client's messages in order, where it runs requests, and not on Action Cable's own
    # threads. Executor, reloader, log tags and errors are those of Action Cable's worker pool.
    module Connection
      # :nodoc:
      def on_open
        served_here? ? serve(:handle_open) : super
      end

      # :nodoc: After a failed `connect`, Action Cable would store the client's messages without end.
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

      # The server's current pool does the work: after a restart of Action Cable the connection's own pool is stopped.
      def serve(method, *arguments)
        server.worker_pool.invoke(self, method, *arguments, connection: self)
      end
    end
  end
end
