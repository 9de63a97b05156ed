# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"
require "upwell/client/websocket_connection"

module Upwell
  module Runtime
    class UWebSockets
      # The connection to a WebSocket client.
      class WebSocketConnection < Client::WebSocketConnection
        # @param uws [JavaScript Object] the module
        # @param options [Configuration]
        # @return [JavaScript Object] the runtime's settings and callbacks for all WebSockets
        def self.behavior(uws, options)
          %x{
            const line = ws => ws.getUserData().line;

            return {
              maxPayloadLength: #{options.message_bytes_max}, maxBackpressure: 0, idleTimeout: 0, sendPingsAutomatically: false,
              compression: uws.SHARED_COMPRESSOR,
              open: ws => line(ws).$opened(ws), message: (ws, message, is_binary) => line(ws).$message(new Uint8Array(message), is_binary),
              ping: (ws, payload) => line(ws).$asked(payload.byteLength), pong: ws => line(ws).$heard(),
              drain: ws => line(ws).$drained(), close: ws => line(ws).$closed()
            };
          }
        end

        def end(code, reason)
          `self.socket.end(code, reason)` if @socket
        end

        def cut
          `self.socket.close()` if @socket
        end

        def message(bytes, is_binary)
          data = is_binary ? ByteConversion.read(bytes) : `Buffer.from(bytes.buffer).utf8Slice()`
          @client.received(data, `bytes.length`)
        end

        private

        def send(data, is_binary)
          `self.socket.send(data, is_binary, data.length >= #{COMPRESSED_MIN})` if @socket
        end
      end
    end
  end
end
