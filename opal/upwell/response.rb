# backtick_javascript: true
# frozen_string_literal: true

require "upwell/bytes"
require "upwell/head"

module Upwell
  # A response whose body comes in pieces. They are gathered, so that whatever fails the client gets a complete answer, until the first flush;
  # from then on each leaves as it is written.
  class Response
    HELD_MAX = 1 << 30 # bytes that a client may be behind

    # @param runtime [Runtime::Node, Runtime::UWebSockets, Runtime::Bun]
    # @param client [Object] the runtime's
    # @param head [Head]
    def initialize(runtime, client, head)
      @runtime = runtime
      @client = client
      @head = head
      @pieces = []
      @bytes = 0
      @begun = false
    end

    # @return [Boolean] whether a part of it may have left
    def begun?
      @begun
    end

    # @param piece [String]
    # @return [Integer] its bytes
    # @raise [Errno::EPIPE] when the client is gone
    # @raise [Head::Invalid] when there is more than the head says
    def write(piece)
      data = Bytes.of(piece)
      size = Bytes.size(data)
      count(size)
      @begun ? send(data) : @pieces << data
      size
    end

    # @return [void]
    def flush
      return if @begun

      @begun = true
      @runtime.begin(@client, @head)
      @pieces.each { |data| send(data) }
      @pieces.clear
    end

    # @return [void]
    # @raise [Head::Invalid] when there is less than the head says
    def finish
      @head.check_length(@bytes)
      @begun ? @runtime.finish(@client) : @runtime.answer(@client, @head, Bytes.join(@pieces))
    end

    private

    def count(size)
      @bytes += size
      raise Head::Invalid, "the response says content-length #{@head.length}, but its body is longer" if @head.length && @bytes > @head.length
    end

    def send(data)
      raise Errno::EPIPE if @runtime.gone?(@client)

      @runtime.write(@client, data)
      raise IOError, "the client is more than #{HELD_MAX} bytes behind" if @runtime.behind(@client) > HELD_MAX
    end
  end
end
