# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # What a callable response body is called with. What it writes leaves when it flushes, when it ends, or, of one that gives back a promise,
  # as it is written.
  class Stream
    # @param response [Response]
    # @param env [Hash]
    def initialize(response, env)
      @response = response
      @env = env
      @closed = false
    end

    # @param pieces [Array<String>]
    # @return [Integer] bytes written
    # @raise [IOError] when closed
    # @raise [Errno::EPIPE] when the client is gone
    def write(*pieces)
      pieces.sum do |piece|
        raise IOError, "the response stream is closed" if @closed

        @response.write(piece.to_s)
      end
    end

    # @param piece [String]
    # @return [self]
    def <<(piece)
      write(piece)
      self
    end

    # Sends what has been written, and the head of the response.
    #
    # @return [self]
    def flush
      @response.flush
      self
    end

    # Reads of the request's content.
    #
    # @see Input#read
    def read(length = nil, buffer = nil)
      @env["rack.input"].read(length, buffer)
    end

    # @return [nil]
    def close_read
      @env["rack.input"].close
    end

    # Ends the response.
    #
    # @return [nil]
    def close
      @closed = true
      nil
    end
    alias close_write close

    # @return [Boolean]
    def closed?
      @closed
    end
  end
end
