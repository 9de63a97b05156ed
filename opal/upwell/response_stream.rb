# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The argument of a callable response body. Data is sent at a flush, at the end, or, if the body returns a promise, when it is written.
  class Stream
    # @param response [StreamedResponse]
    # @param env [Hash]
    def initialize(response, env)
      @response = response
      @env = env
      @closed = false
    end

    # Writes pieces of the body.
    #
    # @param pieces [Array<String>]
    # @return [Integer] bytes written
    # @raise [IOError] when closed
    # @raise [Errno::EPIPE] when the client has disconnected
    def write(*pieces)
      pieces.sum do |piece|
        raise IOError, "the response stream is closed, so nothing more can be written" if @closed

        @response.write(piece.to_s)
      end
    end

    # Writes a piece of the body.
    #
    # @param piece [String]
    # @return [self]
    def <<(piece)
      write(piece)
      self
    end

    # Sends the head of the response and the written data.
    #
    # @return [self]
    def flush
      @response.flush
      self
    end

    # Reads from the request's content.
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
