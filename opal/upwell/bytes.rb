# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Between Ruby's Strings and what runtimes send: text as JavaScript has it, anything else as bytes.
  module Bytes
    `const BEYOND_ASCII = /[\x80-\uffff]/, TEXT_MAX = 1 << 20` # characters; strings of JavaScript have an end

    class << self
      # @param latin1 [String] whose code units are bytes
      # @return [String] the same where it is ASCII, else binary
      def string(latin1)
        `BEYOND_ASCII.test(latin1) ? Opal.new_bytes(latin1) : latin1`
      end

      # @param bytes [JavaScript Uint8Array]
      # @return [String] binary
      def read(bytes)
        `Opal.from_buffer(bytes)`
      end

      # @param string [String]
      # @return [JavaScript String, JavaScript Uint8Array]
      # @raise [TypeError] for anything else
      def of(string)
        %x{
          if (typeof string === "string" && string.isWellFormed()) return string;
          if (!string.$$is_string) #{refuse(string)};
          return Opal.is_bytes(string) || !string.valueOf().isWellFormed() ? Opal.to_buffer(string) : string.valueOf();
        }
      end

      # @param pieces [Array<JavaScript String, JavaScript Uint8Array>]
      # @return [JavaScript String, JavaScript Uint8Array]
      def join(pieces)
        %x{
          let length = 0;

          if (pieces.length === 1) return pieces[0];
          for (const piece of pieces) length += typeof piece === "string" ? piece.length : Infinity;
          return length <= TEXT_MAX ? pieces.join("") : #{pack(pieces)};
        }
      end

      # @param pieces [Array<JavaScript String, JavaScript Uint8Array>]
      # @return [JavaScript Uint8Array]
      def pack(pieces)
        %x{
          const packed = Buffer.allocUnsafe(pieces.reduce((bytes, piece) => bytes + #{size(`piece`)}, 0));
          let at = 0;

          for (const piece of pieces) {
            if (typeof piece === "string") at += packed.write(piece, at);
            else packed.set(piece, at), at += piece.length;
          }
          return packed;
        }
      end

      # @param data [JavaScript String, JavaScript Uint8Array]
      # @return [Integer]
      def size(data)
        `typeof data === "string" ? Buffer.byteLength(data) : data.length`
      end

      private

      def refuse(piece)
        raise TypeError, "a piece of the response body is a #{piece.class} instead of a String"
      end
    end
  end
end
