# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_conversion"
require "upwell/response_head"

module Upwell
  # A response whose body comes in pieces. The pieces are gathered until the first flush, so that the client gets a complete answer even after an
  # error. From then on each piece is sent as it is written, if the runtime can send it while the application runs. The application never waits
  # for the client, so both amounts are limited.
  class StreamedResponse
    WAITING_BYTES_MAX = 128 << 20 # gathered bytes, or bytes that the client has not received
    PACKED_BYTES = 1 << 20 # of joined pieces, since many small ones need much more memory than their bytes
    WAY = "send larger content as a file (to_path)"

    # @param runtime [Runtime::Node, Runtime::UWebSockets, Runtime::Bun]
    # @param client [Object] the runtime's
    # @param head [ResponseHead]
    def initialize(runtime, client, head)
      @runtime = runtime
      @client = client
      @head = head
      @pieces = [] # the last ones
      @packed = [] # the joined ones before
      @bytes = @packed_bytes = 0
      @begun = @flushed = false
    end

    # @return [Boolean] whether a part may have been sent
    def begun?
      @begun
    end

    # Writes a piece of the body.
    #
    # @param piece [String]
    # @return [Integer] the size in bytes
    # @raise [Errno::EPIPE] when the client has disconnected
    # @raise [ResponseHead::Invalid] when the body is longer than the head says
    def write(piece)
      data = ByteConversion.of(piece)
      size = ByteConversion.size(data)
      count(size)
      @begun ? send(data) : gather(data)
      flush if @flushed
      size
    end

    # Sends the gathered pieces. If the runtime would delay them anyway, they are gathered further.
    #
    # @return [void]
    def flush
      @flushed = true
      self.begin unless @begun || @runtime.holds?(@bytes)
    end

    # Sends the head and the gathered pieces. Later pieces are not gathered.
    #
    # @return [void]
    def begin
      return if @begun

      @begun = true
      send_gathered unless @runtime.gone?(@client)
      @pieces = @packed = nil
    end

    # Ends the response.
    #
    # @return [void]
    # @raise [ResponseHead::Invalid] when the body is shorter than the head says
    def finish
      @head.check_length(@bytes)
      @begun ? @runtime.finish(@client) : @runtime.answer(@client, @head, ByteConversion.join(gathered))
    end

    private

    def count(size)
      @bytes += size
      return unless @head.length && @bytes > @head.length

      raise ResponseHead::Invalid,
            "the response says content-length #{@head.length}, but its body is longer; correct the header, or leave it out"
    end

    def gather(data)
      refuse_more if @bytes > WAITING_BYTES_MAX
      @pieces << data if `data.length > 0`
      pack if @bytes - @packed_bytes >= PACKED_BYTES
    end

    def pack
      @packed << ByteConversion.pack(@pieces)
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
      raise Errno::EPIPE, "the client disconnected" if @runtime.gone?(@client)

      @runtime.write(@client, data)
      refuse_more if @runtime.behind(@client) > WAITING_BYTES_MAX
    end

    def refuse_more
      raise IOError, "more than #{WAITING_BYTES_MAX} bytes of the response wait for a slow client; #{WAY}" if @flushed || @begun

      raise IOError, "the response has more than #{WAITING_BYTES_MAX} bytes, which the server holds until the application returns; #{WAY}"
    end
  end
end
