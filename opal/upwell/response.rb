# backtick_javascript: true
# frozen_string_literal: true

require "upwell/bytes"
require "upwell/head"

module Upwell
  # A response whose body comes in pieces. They are gathered, so that whatever fails the client gets a complete answer, until the first flush;
  # from then on each leaves as it is written, if the runtime sends it before the application has come to its end. Either is bounded: whoever
  # writes them does not wait for the client.
  class Response
    WAITING_BYTES_MAX = 128 << 20 # that are gathered, or that the client is behind
    PACKED_BYTES = 1 << 20 # of pieces that become one: many small ones take far more room than their bytes
    WAY = "what is larger must be a file (to_path)"

    # @param runtime [Runtime::Node, Runtime::UWebSockets, Runtime::Bun]
    # @param client [Object] the runtime's
    # @param head [Head]
    def initialize(runtime, client, head)
      @runtime = runtime
      @client = client
      @head = head
      @pieces = [] # the last of them
      @packed = [] # those before
      @bytes = @packed_bytes = 0
      @begun = @flushed = false
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
      @begun ? send(data) : gather(data)
      flush if @flushed
      size
    end

    # What there is leaves; of what the runtime would hold back yet nothing is lost by gathering it on.
    #
    # @return [void]
    def flush
      @flushed = true
      self.begin unless @begun || @runtime.holds?(@bytes)
    end

    # From now on nothing is gathered.
    #
    # @return [void]
    def begin
      return if @begun

      @begun = true
      send_gathered unless @runtime.gone?(@client)
      @pieces = @packed = nil
    end

    # @return [void]
    # @raise [Head::Invalid] when there is less than the head says
    def finish
      @head.check_length(@bytes)
      @begun ? @runtime.finish(@client) : @runtime.answer(@client, @head, Bytes.join(gathered))
    end

    private

    def count(size)
      @bytes += size
      raise Head::Invalid, "the response says content-length #{@head.length}, but its body is longer" if @head.length && @bytes > @head.length
    end

    def gather(data)
      refuse_more if @bytes > WAITING_BYTES_MAX
      @pieces << data if `data.length > 0`
      pack if @bytes - @packed_bytes >= PACKED_BYTES
    end

    def pack
      @packed << Bytes.pack(@pieces)
      @packed_bytes = @bytes
      @pieces = []
    end

    def send_gathered
      @runtime.begin(@client, @head)
      gathered.each { |data| send(data) }
    end

    def gathered
      @packed + @pieces
    end

    def send(data)
      raise Errno::EPIPE if @runtime.gone?(@client)

      @runtime.write(@client, data)
      refuse_more if @runtime.behind(@client) > WAITING_BYTES_MAX
    end

    def refuse_more
      raise IOError, "the client is more than #{WAITING_BYTES_MAX} bytes behind; #{WAY}" if @flushed || @begun

      raise IOError, "the response has more than #{WAITING_BYTES_MAX} bytes, and nothing was flushed; #{WAY}"
    end
  end
end
