# backtick_javascript: true
# frozen_string_literal: true

require "upwell/message_text"

module Upwell
  # A message for the subscribers of its channel.
  class Publication
    # @return [JavaScript String] the channel's name: a code unit for each byte
    attr_reader :name
    # @return [JavaScript String, JavaScript Uint8Array]
    attr_reader :data

    # @param name [JavaScript String]
    # @param data [JavaScript String, JavaScript Uint8Array] text or bytes
    def initialize(name, data)
      @name = name
      @data = data
      @framed = `new Map()`
    end

    # @return [Boolean] whether it was published as a text
    def text?
      `typeof self.data === "string"`
    end

    # @return [Integer]
    def bytesize
      @bytesize ||= ByteConversion.size(@data)
    end

    # @return [String] the channel's name, for blocks
    def channel
      @channel ||= MessageText.read(`Buffer.from(self.name, "latin1")`)
    end

    # @return [String] the message, for blocks
    def message
      text? ? @data : ByteConversion.read(@data)
    end

    # @return [JavaScript Uint8Array]
    def bytes
      @bytes ||= text? ? `Buffer.from(self.data)` : @data
    end

    # @return [JavaScript String]
    def text
      `self.data.toString()`
    end

    # @return [Boolean] whether it can be sent as a text
    def valid_text?
      text? || `require("buffer").isUtf8(self.data)`
    end

    # @param key [Object] the form of the frame, which is made once for all clients with the same form
    # @yieldreturn [Object]
    def framed(key)
      `self.framed.get(key) || (self.framed.set(key, #{yield}), self.framed.get(key))`
    end
  end
end
