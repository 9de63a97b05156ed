# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Client
    # The line to a WebSocket client whose frames are the runtime's. Its socket must not be touched any more once it is closed. Who inherits has
    # `send(data, is_binary)`, `end(code, reason)` and `cut`.
    class WebSocketLine
      COMPRESSED_MIN = 128 # bytes of a message
      HEAD_BYTES = 2 # of an answer's frame

      # @param client [Client]
      def initialize(client)
        @client = client
        @socket = nil
        @drained_awaited = false
        @answered = 0 # bytes of answers since it had taken everything
      end

      def write(data)
        send(data, `typeof data !== "string"`)
      end

      def publish(publication, text)
        send(text ? publication.text : publication.bytes, !text)
      end

      def behind
        `self.socket === nil ? 0 : self.socket.getBufferedAmount()`
      end

      def ask
        `self.socket.ping()` if @socket
      end

      def answers?
        true
      end

      def await_drained
        @drained_awaited = true
        drained if behind.zero?
      end

      # The runtime's:

      def opened(socket)
        @socket = socket
        @client.opened(self)
      end

      def heard
        @client.heard
      end

      # The runtime answers, whether the client reads or not: one that asks and asks, and does not, is cut.
      def asked(bytes)
        @client.heard
        left = behind
        @answered = left.zero? ? 0 : @answered + bytes + HEAD_BYTES
        cut if [@answered, left].min > @client.bytes_max
      end

      def drained
        return unless @drained_awaited && behind.zero?

        @drained_awaited = false
        @client.drained
      end

      def closed
        @socket = nil
        @client.gone
      end
    end
  end
end
