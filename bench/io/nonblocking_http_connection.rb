# frozen_string_literal: true

require "http/parser"

# One client of a server that is told when its sockets are ready: the same code for every reactor, with the same parser.
class NonblockingHTTPConnection
  READ_MAX = 16_384
  RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!"

  attr_reader :io

  # @return [:read, :write, nil] what its server waits for; nil as long as it does not
  attr_accessor :awaited

  def initialize(io)
    @io = io
    @buffer = String.new(capacity: READ_MAX)
    @awaited = nil
    @complete = false
    @rest = nil
    @parser = Http::Parser.new(self)
  end

  def on_message_complete
    @complete = true
  end

  # Does what the socket lets it do.
  #
  # @return [:read, :write, :close] what to wait for now
  def progress
    return flush if @rest

    bytes = @io.read_nonblock(READ_MAX, @buffer, exception: false)
    return :read if bytes == :wait_readable
    return :close unless bytes

    @parser << bytes
    @complete ? respond : :read
  rescue Http::Parser::Error, SystemCallError
    :close
  end

  private

  def respond
    @complete = false
    @rest = RESPONSE
    flush
  end

  def flush
    written = @io.write_nonblock(@rest, exception: false)
    return :write if written == :wait_writable

    @rest = (@rest.byteslice(written..) if written < @rest.bytesize)
    @rest ? :write : :read
  end
end
