# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Client
    # The connection to a WebSocket client whose runtime handles the frames. The socket must not be used after its close. A subclass has
    # `send(data, is_binary)`, `end(code, reason)` and `cut`.
    class WebSocketConnection
      COMPRESSED_MIN = 128 # bytes of a message
      HEAD_BYTES = 2 # of a pong's frame

      # @param client [Client]
      def initialize(client)
        @client = client
        @socket = nil
        @drained_awaited = false
        @answered = 0 # bytes of pongs since the client had received all data
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

      # The runtime calls the methods below.

      def opened(socket)
        @socket = socket
        @client.opened(self)
      end

      def heard
        @client.heard
      end

      # The runtime answers pings even if the client does not read. A client that pings without reading is disconnected.
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
