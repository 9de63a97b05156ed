# backtick_javascript: true
# frozen_string_literal: true

require "upwell/fast_constructor"

module Upwell
  # `rack.input`: the content of a request, complete before the application is called. All data is binary.
  class Input
    extend FastConstructor

    quick_new "content", "position", "closed"

    # @param content [JavaScript Uint8Array, nil]
    def initialize(content)
      @content = content
      @position = 0
    end

    # @return [Integer] bytes of the whole body
    def size
      `self.content === nil ? 0 : self.content.length`
    end

    # Reads from the content (Rack SPEC).
    #
    # @param length [Integer, nil] the maximum of bytes to read; nil for the rest
    # @param buffer [String, nil] receives the data instead of its content
    # @return [String, nil] nil at the end if a positive length was given
    # @raise [IOError] when closed
    # @raise [ArgumentError] for a negative length
    def read(length = nil, buffer = nil)
      refuse_closed
      raise ArgumentError, "the length must be 0 or more, not #{length}" if length&.negative?

      left = size - @position
      piece = take(length ? [length, left].min : left)
      buffer&.replace(piece)
      piece if piece != "" || length.nil? || length.zero?
    end

    # @return [String, nil] the next line with its newline; nil at the end
    def gets
      refuse_closed
      return if @position == size

      newline = `self.content.indexOf(10, self.position)`
      take((newline.negative? ? size : newline + 1) - @position)
    end

    # Yields each remaining line.
    #
    # @yieldparam line [String]
    # @return [self]
    def each
      return enum_for(:each) unless block_given?

      while (line = gets)
        yield line
      end
      self
    end

    # Goes back to the beginning.
    #
    # @return [0]
    def rewind
      refuse_closed
      @position = 0
    end

    # Closes the input. Further reads raise IOError.
    #
    # @return [nil]
    def close
      @closed = true
      @content = nil
    end

    # @return [Encoding]
    def encoding
      Encoding::BINARY
    end

    # @return [String]
    def inspect
      `"#<Upwell::Input of " + #{size} + " bytes>"`
    end

    private

    def refuse_closed
      raise IOError, "rack.input is closed; read it before you close it" if @closed
    end

    def take(length)
      start = @position
      @position += length
      length.zero? ? `Opal.new_bytes("")` : `Opal.from_buffer(self.content.subarray(start, start + length))`
    end
  end
end
