# frozen_string_literal: true

require "socket"
require_relative "await"

# One request on a connection of its own, of which the answer may be waited for later.
class SingleRequest
  PIECE = 65_536

  # @param port [Integer]
  # @param path [String]
  def initialize(port, path)
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    @text = +""
  end

  # @return [Integer] the client's own
  def port
    @socket.local_address.ip_port
  end

  # Waits until the answer has begun.
  def await_begin
    @text << piece
  end

  # @return [void]
  # @raise [Await::Failure] unless it is complete, and a success
  def finish
    while (more = piece)
      @text << more
    end
    head, body = @text.split("\r\n\r\n", 2)
    Await.expect("answered #{head.inspect} and #{body.to_s.bytesize} bytes", complete?(head, body))
  ensure
    @socket.close
  end

  private

  def complete?(head, body)
    head.to_s.start_with?("HTTP/1.1 200 ") && head[/^content-length: (\d+)/i, 1].to_i == body.bytesize
  end

  def piece
    Await.expect("no answer for #{Await::SECONDS} s", @socket.wait_readable(Await::SECONDS))
    @socket.read_nonblock(PIECE)
  rescue EOFError
    nil
  rescue SystemCallError => e
    raise Await::Failure, "#{e.class} after #{@text.bytesize} bytes"
  end
end
