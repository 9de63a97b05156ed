# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"
require "upwell/client/close_code"
require "upwell/runtime/node/permessage_deflate"
require "upwell/runtime/node/websocket_frame"
require "upwell/runtime/node/websocket_frame_reader"
require "upwell/runtime/node/buffered_writer"

module Upwell
  module Runtime
    class Node
      # The connection to a WebSocket client, on the socket that Node detaches from the request: Node has no WebSocket server.
      class WebSocketConnection
        CLOSING_MS = 2_000 # to wait for the client's close frame, or its end, after the server's

        # @param client [Client]
        # @param socket [JavaScript Socket]
        # @param options [Configuration]
        # @param deflate [PermessageDeflate, nil]
        def initialize(client, socket, options, deflate)
          @client = client
          @socket = socket
          @bytes_max = options.client_bytes_max
          @deflate = deflate
          @reader = WebSocketFrameReader.new(self, options.message_bytes_max, deflate)
          @closing = false
          @outlet = BufferedWriter.new(socket)
        end

        # @param ahead [JavaScript Buffer] data that the client has sent after its request
        def begin(ahead)
          @client.opened(self)
          %x{
            self.socket.on("data", chunk => {
              self.socket.cork();
              #{@reader.read(`chunk`)};
              self.socket.uncork();
            });
            self.socket.on("end", () => #{finish});
            self.socket.on("close", () => #{@client.gone});
            if (ahead.length > 0) #{@reader.read(ahead)};
          }
        end

        def write(data)
          @outlet.write(frame(data, ByteConversion.size(data)))
        end

        # A message is framed once for all clients with the same compression.
        def publish(publication, text)
          data = text ? publication.text : publication.bytes
          @outlet.write(publication.framed("#{text} #{@deflate&.bits}") { frame(data, publication.bytesize) })
        end

        def behind
          @outlet.behind
        end

        def ask
          @outlet.write(WebSocketFrame.write(WebSocketFrame::PING, ""))
        end

        def answers?
          true
        end

        def end(code, reason)
          @reader.stop if code == Client::CloseCode::FAILED
          send_close(code, reason)
        end

        def cut
          `self.socket.destroy()`
        end

        def await_drained
          `self.socket.write("", () => #{@client.drained})`
        end

        # The reader calls the methods below.

        def message(bytes, text)
          `#{@client}.$received(text ? bytes.utf8Slice() : #{ByteConversion.read(bytes)}, bytes.length)`
        end

        def control(opcode, payload)
          @client.heard
          case opcode
          when WebSocketFrame::PING then answer(payload)
          when WebSocketFrame::CLOSE then answer_close(payload)
          end
        end

        def breach(code)
          @client.leaves
          send_close(code, "")
          finish
        end

        private

        def frame(data, size)
          opcode = `typeof data === "string"` ? WebSocketFrame::TEXT : WebSocketFrame::BINARY
          return WebSocketFrame.write(opcode, data) unless @deflate&.worthwhile?(size)

          WebSocketFrame.write(opcode | WebSocketFrame::COMPRESSED, @deflate.deflate(data))
        end

        # A client that pings without reading gets no pong.
        def answer(payload)
          return if @closing || behind > @bytes_max

          @outlet.write(WebSocketFrame.write(WebSocketFrame::PONG, payload))
        end

        # Earlier messages are handled first.
        def answer_close(payload)
          @reader.stop
          @client.leaves
          send_close(answer_code(payload), "")
          finish
        end

        def answer_code(payload)
          return if `payload.length === 0`
          return Client::CloseCode::PROTOCOL if `payload.length === 1` || !Client::CloseCode.valid?(`payload.readUInt16BE(0)`)

          `require("buffer").isUtf8(payload.subarray(2))` ? `payload.readUInt16BE(0)` : Client::CloseCode::NOT_UTF8
        end

        def send_close(code, reason)
          return if @closing

          @closing = true
          @outlet.write(WebSocketFrame.close(code, reason))
          %x{
            self.timer = setTimeout(() => self.socket.destroy(), #{CLOSING_MS});
            self.socket.once("close", () => clearTimeout(self.timer));
          }
        end

        # Ends the connection once the client has no more valid data to send.
        def finish
          @outlet.finish { `self.socket.end()` }
        end
      end
    end
  end
end
