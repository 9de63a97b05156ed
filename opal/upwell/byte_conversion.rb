# backtick_javascript: true
# frozen_string_literal: true

require "upwell/description"

module Upwell
  # Converts between Ruby's Strings and the runtimes' values: JavaScript strings for text, bytes for all other data.
  module ByteConversion
    `const BEYOND_ASCII = /[\x80-\uffff]/, TEXT_MAX = 1 << 20` # characters; JavaScript limits the length of strings

    class << self
      # Converts a Latin-1 string to a Ruby String.
      #
      # @param latin1 [String] a string whose code units are bytes
      # @return [String] the same string if it is ASCII, else a binary one
      def string(latin1)
        `BEYOND_ASCII.test(latin1) ? Opal.new_bytes(latin1) : latin1`
      end

      # Converts bytes to a binary String.
      #
      # @param bytes [JavaScript Uint8Array]
      # @return [String] binary
      def read(bytes)
        `Opal.from_buffer(bytes)`
      end

      # Converts a String for the runtime.
      #
      # @param string [String]
      # @return [JavaScript String, JavaScript Uint8Array]
      # @raise [TypeError] for another object
      def of(string)
        %x{
          if (typeof string === "string" && string.isWellFormed()) return string;
          if (!string.$$is_string) #{refuse(string)};
          return Opal.is_bytes(string) || !string.valueOf().isWellFormed() ? Opal.to_buffer(string) : string.valueOf();
        }
      end

      # Joins pieces.
      #
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

      # Joins pieces to bytes.
      #
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

      # Counts bytes.
      #
      # @param data [JavaScript String, JavaScript Uint8Array]
      # @return [Integer]
      def size(data)
        `typeof data === "string" ? Buffer.byteLength(data) : data.length`
      end

      private

      def refuse(piece)
        raise TypeError, "the response body yields #{Description.of(piece)}, but must yield Strings"
      end
    end
  end
end
