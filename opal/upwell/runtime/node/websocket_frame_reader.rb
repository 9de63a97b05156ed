# backtick_javascript: true
# frozen_string_literal: true

require "upwell/client/close_code"

module Upwell
  module Runtime
    class Node
      # Parses a client's frames and assembles its messages (RFC 6455, section 5). A protocol error is reported once, and parsing stops.
      class WebSocketFrameReader
        ROOM_MIN = 4096 # bytes for a fragmented message; doubled as it grows

        `const CONTINUATION = 0, TEXT = 1, CONTROL = 8, FIN = 0x80, RESERVED = 0x70, COMPRESSED = 0x40, MASKED = 0x80`
        `const isUtf8 = require("buffer").isUtf8`

        # @param receiver [#message, #control, #breach]
        # @param bytes_max [Integer] of a message
        # @param deflate [PermessageDeflate, nil] the negotiated compression
        def initialize(receiver, bytes_max, deflate)
          @receiver = receiver
          @bytes_max = bytes_max
          @deflate = deflate
          @rest = @content = @decoder = nil # the beginning of a head; the message so far; the decoder of its text
          @left = -1 # remaining bytes of a payload; -1: a head follows
          @type = @size = 0 # of the message; 0: none
          @stopped = false
        end

        # Stops all reports.
        def stop
          @stopped = true
        end

        # Parses a chunk.
        #
        # @param chunk [JavaScript Buffer] is unmasked in place
        def read(chunk)
          %x{
            let at = 0;

            if (self.rest !== nil) chunk = Buffer.concat([self.rest, chunk]);
            self.rest = nil;
            while (at >= 0 && !self.stopped) at = self.left < 0 ? #{read_head(chunk, `at`)} : #{read_payload(chunk, `at`)};
          }
        end

        private

        # Both methods return the next position, or -1 when they need more data.

        def read_head(chunk, at)
          %x{
            const there = chunk.length - at, short = there < 2 ? 0 : chunk[at + 1] & 0x7f, bytes = short === 126 ? 4 : short === 127 ? 10 : 2;

            if (there >= 2 && !#{may_come?(`chunk[at]`, `chunk[at] & 0x0f`, `chunk[at + 1]`)}) return #{breach(Client::CloseCode::PROTOCOL)};
            if (there >= bytes) {
              const length = bytes === 2 ? short : bytes === 4 ? chunk.readUInt16BE(at + 2) : Number(chunk.readBigUInt64BE(at + 2));
              const code = #{wrong_length(`chunk[at] & 0x0f`, `length`, `bytes`)};

              if (code !== nil) return #{breach(`code`)};
              if (there >= bytes + 4) return #{begin_frame(`chunk[at]`, `length`, `chunk.subarray(at + bytes, at + bytes + 4)`)}, at + bytes + 4;
            }
            self.rest = there > 0 ? chunk.subarray(at) : nil;
            return -1;
          }
        end

        def begin_frame(first, length, mask)
          @first = first
          @left = length
          @mask = mask
          %x{
            const opcode = first & 0x0f;

            if (opcode === CONTINUATION || opcode >= CONTROL) return;
            self.type = opcode;
            self.compressed = (first & COMPRESSED) !== 0;
          }
        end

        def read_payload(chunk, at)
          %x{
            const piece = chunk.subarray(at, at + self.left);

            #{unmask(`piece`)};
            self.left -= piece.length;
            #{take(`piece`, `self.left === 0`)};
            if (self.left > 0) return -1;
            self.left = -1;
            return at + piece.length;
          }
        end

        def may_come?(first, opcode, second)
          %x{
            const begins = opcode === TEXT || opcode === TEXT + 1, reserved = first & RESERVED;

            if (!(second & MASKED) || (reserved !== 0 && !(reserved === COMPRESSED && begins && self.deflate !== nil))) return false;
            if (opcode >= CONTROL) return opcode <= CONTROL + 2 && (first & FIN) !== 0 && (second & 0x7f) <= 125;
            return (begins && self.type === 0) || (opcode === CONTINUATION && self.type !== 0);
          }
        end

        # The length must use the shortest encoding, and must be less than 2 to the 63rd.
        def wrong_length(opcode, length, bytes)
          %x{
            if ((bytes === 4 && length < 126) || (bytes === 10 && (length < 65536 || length >= 2 ** 63))) return #{Client::CloseCode::PROTOCOL};
            return opcode < CONTROL && self.size + length > self.bytes_max ? #{Client::CloseCode::TOO_LARGE} : nil;
          }
        end

        # Unmasks a piece, and rotates the mask for the next piece.
        def unmask(piece)
          %x{
            const [a, b, c, d] = self.mask, end = piece.length & ~3, rest = piece.length & 3;
            let i = 0;

            for (; i < end; i += 4) {
              piece[i] ^= a;
              piece[i + 1] ^= b;
              piece[i + 2] ^= c;
              piece[i + 3] ^= d;
            }
            for (; i < piece.length; i++) piece[i] ^= self.mask[i & 3];
            if (rest) self.mask = Buffer.of(...self.mask.subarray(rest), ...self.mask.subarray(0, rest));
          }
        end

        def take(piece, last)
          %x{
            if ((self.first & 0x0f) >= CONTROL) return #{take_control(piece, last)};
            const ends = last && (self.first & FIN) !== 0;

            if (ends && self.size === 0 && self.decoder === nil) return #{tell(piece)};
            #{add(piece)};
            if (ends && !self.stopped) #{tell(`self.content === nil ? Buffer.alloc(0) : self.content.subarray(0, self.size)`)};
          }
        end

        def take_control(piece, last)
          %x{
            self.control = self.control ? Buffer.concat([self.control, piece]) : piece;
            if (!last) return;
            const payload = self.control;

            self.control = null;
            #{@receiver.control(`self.first & 0x0f`, `payload`)};
          }
        end

        # A text is checked as it arrives, so an invalid byte is an error before the text ends.
        def add(piece)
          %x{
            const size = self.size + piece.length;

            if (size > 0 && (self.content === nil || size > self.content.length)) {
              const room = Buffer.allocUnsafe(Math.max(#{ROOM_MIN}, 2 * size));

              if (self.content !== nil) self.content.copy(room, 0, 0, self.size);
              self.content = room;
            }
            if (piece.length > 0) piece.copy(self.content, self.size);
            self.size = size;
            if (self.type === TEXT && !self.compressed) #{check(piece, true)};
          }
        end

        # @param more [Boolean] whether a character may continue in the next piece
        def check(bytes, more)
          %x{
            if (self.decoder === nil) self.decoder = new TextDecoder("utf-8", { fatal: true });
            try { self.decoder.decode(bytes, { stream: more }); } catch (error) { #{breach(Client::CloseCode::NOT_UTF8)}; }
          }
        end

        def tell(bytes)
          %x{
            const is_text = self.type === TEXT, checked = self.decoder !== nil;

            if (checked) #{check(`new Uint8Array(0)`, false)};
            if (self.compressed && !self.stopped) bytes = #{inflate(bytes)};
            if (is_text && !checked && !self.stopped && !isUtf8(bytes)) #{breach(Client::CloseCode::NOT_UTF8)};
            self.type = self.size = 0;
            self.content = self.decoder = nil;
            if (!self.stopped) #{@receiver.message(bytes, `is_text`)};
          }
        end

        def inflate(bytes)
          %x{
            try {
              return #{@deflate.inflate(bytes, @bytes_max)};
            } catch (error) {
              return #{breach(`error.code === "ERR_BUFFER_TOO_LARGE"` ? Client::CloseCode::TOO_LARGE : Client::CloseCode::NOT_UTF8)};
            }
          }
        end

        # @return [-1]
        def breach(code)
          @stopped = true
          @receiver.breach(code)
          -1
        end
      end
    end
  end
end
