# frozen_string_literal: true

# A client of an HTTP server that knows one answer.
class Connection
  HEAD_BYTES_MAX = 16_384
  READ_BYTES_MAX = 4096
  RESPONSE = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!"

  attr_reader :io

  def initialize(io)
    @io = io
    @bytes = +"" # used again for every read: strings of that size are dear
    @input = +""
    @output = +""
  end

  # Reads, answers and writes as far as that goes without waiting.
  #
  # @return [Symbol, nil] what to wait for, :wait_readable or :wait_writable; nil when the connection is over
  def advance
    if @output.empty?
      result = @io.read_nonblock(READ_BYTES_MAX, @bytes, exception: false)
      return result unless result.is_a?(String)

      @input << @bytes
      answer_requests
    end
    write
  rescue SystemCallError, IOError
    nil
  end

  private

  def answer_requests
    while (length = @input.index("\r\n\r\n"))
      @input.slice!(0, length + 4)
      @output << RESPONSE
    end
    raise IOError, "the head of the request is too long" if @input.bytesize > HEAD_BYTES_MAX
  end

  def write
    until @output.empty?
      written = @io.write_nonblock(@output, exception: false)
      return written unless written.is_a?(Integer)

      @output.slice!(0, written)
    end
    :wait_readable
  end
end
