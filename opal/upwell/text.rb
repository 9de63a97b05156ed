# backtick_javascript: true
# frozen_string_literal: true

require "upwell/bytes"

module Upwell
  # What applications give to be sent: bytes where it is binary, else a text.
  module Text
    class << self
      # @param data [String, #to_s]
      # @return [JavaScript String, JavaScript Uint8Array]
      # @raise [ArgumentError] for a text that is not valid
      def checked(data)
        string = `data.$$is_string ? data : #{data.to_s}`
        return `Opal.to_buffer(string)` if string.encoding == Encoding::BINARY

        text = `Opal.is_bytes(string) ? #{string.encode(Encoding::UTF_8)} : string`
        refuse unless `text.valueOf().isWellFormed()`
        `text.valueOf()`
      rescue EncodingError
        refuse
      end

      # @param value [String, #to_s, nil]
      # @return [String, nil] in UTF-8
      # @raise [ArgumentError] for bytes, other than those of ASCII
      def of(value)
        return if value.nil?

        bytes = checked(value)
        return bytes if `typeof bytes === "string"`

        text = `bytes.latin1Slice()`
        refuse unless text.ascii_only?
        text
      end

      # @param bytes [JavaScript Uint8Array]
      # @return [String] UTF-8 if it can be, else binary
      def read(bytes)
        `require("buffer").isUtf8(bytes)` ? `Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).utf8Slice()` : Bytes.read(bytes)
      end

      private

      def refuse
        raise ArgumentError, "a text must be valid in its encoding; other bytes are to be in BINARY"
      end
    end
  end
end
