# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Node
      # Builds a server's frames (RFC 6455, section 5.2).
      module WebSocketFrame
        TEXT = 1
        BINARY = 2
        CLOSE = 8
        PING = 9
        PONG = 10
        COMPRESSED = 0x40

        class << self
          # Builds a frame.
          #
          # @param opcode [Integer] with further bits of the first byte
          # @param data [JavaScript String, JavaScript Uint8Array]
          # @return [JavaScript Buffer]
          def write(opcode, data)
            %x{
              const is_text = typeof data === "string", length = is_text ? Buffer.byteLength(data) : data.length;
              const head = length < 126 ? 2 : length < 65536 ? 4 : 10, frame = Buffer.allocUnsafe(head + length);

              frame[0] = 0x80 | opcode;
              frame[1] = head === 2 ? length : head === 4 ? 126 : 127;
              if (head === 4) frame.writeUInt16BE(length, 2);
              if (head === 10) frame.writeBigUInt64BE(BigInt(length), 2);
              if (is_text) frame.utf8Write(data, head);
              else frame.set(data, head);
              return frame;
            }
          end

          # Builds a close frame (RFC 6455, section 5.5.1).
          #
          # @param code [Integer, nil]
          # @param reason [String]
          # @return [JavaScript Buffer]
          def close(code, reason)
            write(CLOSE, `code === nil ? "" : Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason)])`)
          end
        end
      end
    end
  end
end
