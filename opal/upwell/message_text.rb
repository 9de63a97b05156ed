# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"

module Upwell
  # Checks and converts an application's strings: a binary String is bytes, any other a text.
  module MessageText
    BYTES = "a text must be UTF-8, but this String has bytes beyond ASCII in the encoding BINARY; convert it to UTF-8"

    class << self
      # Checks a string and converts it for the runtime.
      #
      # @param data [String, #to_s]
      # @return [JavaScript String, JavaScript Uint8Array]
      # @raise [ArgumentError] for an invalid text
      def checked(data)
        string = `data.$$is_string ? data : #{data.to_s}`
        return `Opal.to_buffer(string)` if string.encoding == Encoding::BINARY

        text = `Opal.is_bytes(string) ? #{string.encode(Encoding::UTF_8)} : string`
        refuse(string.encoding) unless `text.valueOf().isWellFormed()`
        `text.valueOf()`
      rescue EncodingError
        refuse(string.encoding)
      end

      # Converts a text to UTF-8.
      #
      # @param value [String, #to_s, nil]
      # @return [String, nil] in UTF-8
      # @raise [ArgumentError] for bytes beyond ASCII
      def of(value)
        return if value.nil?

        bytes = checked(value)
        return bytes if `typeof bytes === "string"`

        text = `bytes.latin1Slice()`
        refuse(Encoding::BINARY) unless text.ascii_only?
        text
      end

      # Converts received bytes to a String.
      #
      # @param bytes [JavaScript Uint8Array]
      # @return [String] UTF-8 if valid, else binary
      def read(bytes)
        `require("buffer").isUtf8(bytes)` ? `Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).utf8Slice()` : ByteConversion.read(bytes)
      end

      private

      def refuse(encoding)
        raise ArgumentError, BYTES if encoding == Encoding::BINARY

        raise ArgumentError, "a text message must be valid in its encoding, #{encoding}; send other bytes in the encoding BINARY (String#b)"
      end
    end
  end
end
