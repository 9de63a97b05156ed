# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Between Ruby's Strings and bytes. A String of bytes is binary: one code unit for each. Any other is text, whose bytes are those of UTF-8.
  module Bytes
    `const BINARY = #{Encoding::BINARY}`
    `const BEYOND_ASCII = /[\x80-\uffff]/`

    class << self
      # @param text [String] whose code units are bytes
      # @return [String] the same where it is ASCII, else binary
      def string(text)
        `BEYOND_ASCII.test(text) ? Opal.enc(text, "BINARY") : text`
      end

      # @param bytes [JavaScript Uint8Array]
      # @return [String] binary
      def read(bytes)
        `Opal.enc(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).latin1Slice(), "BINARY")`
      end

      # @param string [String]
      # @return [JavaScript String, JavaScript Uint8Array] what runtimes send: text as it is
      def of(string)
        %x{
          if (typeof string === "string") return string;
          return string.encoding === BINARY ? Buffer.from(string.valueOf(), "latin1") : string.valueOf();
        }
      end

      # @param pieces [Array<JavaScript String, JavaScript Uint8Array>]
      # @return [JavaScript String, JavaScript Uint8Array]
      def join(pieces)
        %x{
          if (pieces.length === 1) return pieces[0];
          if (pieces.every(piece => typeof piece === "string")) return pieces.join("");
          return Buffer.concat(pieces.map(piece => typeof piece === "string" ? Buffer.from(piece) : piece));
        }
      end

      # @param data [JavaScript String, JavaScript Uint8Array]
      # @return [Integer]
      def size(data)
        `typeof data === "string" ? Buffer.byteLength(data) : data.length`
      end

      # @param text [String]
      # @return [JavaScript String] with a code unit for each byte, as a header field is sent
      def field(text)
        `text.encoding === BINARY ? text.valueOf() : Buffer.from(text.valueOf()).latin1Slice()`
      end
    end
  end
end
