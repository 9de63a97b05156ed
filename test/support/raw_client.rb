# frozen_string_literal: true

require "socket"
require "timeout"

# A client that sends exactly the bytes it is told to, and reads responses by their framing.
class RawClient
  READ_MAX = 30 # seconds: whoever waits that long waits for something that was lost
  READ_BYTES = 65_536
  AHEAD_MAX = 4_000_000 # bytes

  Response = Struct.new(:status, :headers, :body)

  def self.open(port)
    client = new(port)
    yield client
  ensure
    client&.close
  end

  # @return [Response] to one request on a connection of its own
  def self.request(port, text)
    open(port) do |client|
      client.write(text)
      client.response
    end
  end

  def self.get(port, path)
    request(port, "GET #{path} HTTP/1.1\r\nHost: test\r\n\r\n")
  end

  # @yieldparam client [RawClient] which has asked for server-sent events
  def self.listen(port, target)
    open(port) do |client|
      client.write("GET #{target} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      yield client
    end
  end

  attr_reader :socket

  # @param ahead [Integer, nil] about how many bytes the kernel takes that have not been read
  def initialize(port, ahead: nil)
    @socket = ahead ? connect_with(port, ahead) : TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(:TCP, :NODELAY, true)
  end

  def write(text)
    @socket.write(text)
  end

  # For a client that was slow: from now on the kernel takes large segments.
  #
  # @return [self]
  def catch_up
    @socket.setsockopt(:SOCKET, :RCVBUF, AHEAD_MAX)
    self
  end

  # @param head [Boolean] whether the request was HEAD
  # @return [Response, nil] nil at the end of the connection
  def response(head: false)
    within_time do
      line = @socket.gets("\r\n") or return
      status = line[/\AHTTP\/1\.1 (\d{3}) /, 1].to_i
      headers = read_headers
      Response.new(status, headers, head ? "" : read_body(status, headers))
    end
  end

  # @return [String] everything up to the end of the connection, or to its reset
  def read_all
    text = +""
    within_time { loop { text << @socket.readpartial(READ_BYTES) } }
  rescue EOFError, Errno::ECONNRESET
    text
  end

  def closed?
    within_time { @socket.eof? }
  rescue Errno::ECONNRESET
    true
  end

  def close
    @socket.close
  end

  private

  # It is TCP's window, which is told when connecting.
  def connect_with(port, ahead)
    Socket.new(:INET, :STREAM).tap do |socket|
      socket.setsockopt(:SOCKET, :RCVBUF, ahead)
      socket.connect(Addrinfo.tcp("127.0.0.1", port))
    end
  end

  def within_time(&block)
    Timeout.timeout(READ_MAX, &block)
  end

  def read_headers
    headers = Hash.new { |hash, name| hash[name] = [] }
    while (line = @socket.readline("\r\n").chomp("\r\n")) != ""
      name, value = line.split(": ", 2)
      headers[name.downcase] << value
    end
    headers.default = nil
    headers
  end

  def read_body(status, headers)
    return "" if [204, 304].include?(status) || status < 200
    return read_chunks if headers["transfer-encoding"] == ["chunked"]
    return @socket.read(headers["content-length"].first.to_i) if headers["content-length"]

    @socket.read.to_s
  end

  def read_chunks
    body = +""
    while (size = @socket.readline("\r\n").to_i(16)).positive?
      body << @socket.read(size)
      raise "a chunk does not end with CRLF" unless @socket.read(2) == "\r\n"
    end
    raise "the last chunk is not followed by an empty line" unless @socket.readline("\r\n") == "\r\n"

    body
  end
end
