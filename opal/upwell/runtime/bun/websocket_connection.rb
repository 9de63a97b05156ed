# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"
require "upwell/client/websocket_connection"

module Upwell
  module Runtime
    class Bun
      # The connection to a WebSocket client.
      class WebSocketConnection < Client::WebSocketConnection
        BEHIND_MAX = 2_147_483_647 # bytes; the server's own limit is lower

        # @param options [Configuration]
        # @return [JavaScript Object] Bun's settings and callbacks for all WebSockets
        def self.behavior(options)
          %x{
            const line = ws => ws.data;

            return {
              maxPayloadLength: #{options.message_bytes_max}, backpressureLimit: #{BEHIND_MAX}, idleTimeout: 0, sendPings: false,
              perMessageDeflate: { compress: "shared", decompress: "shared" },
              open: ws => line(ws).$opened(ws), message: (ws, message) => line(ws).$message(message),
              ping: (ws, payload) => line(ws).$asked(payload.byteLength), pong: ws => line(ws).$heard(),
              drain: ws => line(ws).$drained(), close: ws => line(ws).$closed()
            };
          }
        end

        def end(code, reason)
          `self.socket.close(code, reason)` if @socket
        end

        def cut
          `self.socket.terminate()` if @socket
        end

        def message(message)
          data = `typeof message === "string"` ? message : ByteConversion.read(message)
          @client.received(data, ByteConversion.size(message))
        end

        private

        def send(data, _is_binary)
          `self.socket.send(data, data.length >= #{COMPRESSED_MIN})` if @socket
        end
      end
    end
  end
end
