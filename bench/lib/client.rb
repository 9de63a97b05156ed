# frozen_string_literal: true

require "io/wait"
require "openssl"
require "socket"

module Bench
  # A client's connection over a non-blocking socket, with the manners of good clients and of bad ones. How it waits is left to its owner:
  # the block gets the socket and IO::READABLE or IO::WRITABLE, and returns nil when that took too long.
  class Client
    Error = Class.new(StandardError)

    WAIT_MAX = 10 # seconds
    READ_SIZE = 65_536
    BLOCKING_WAIT = ->(socket, event) { socket.wait(event, WAIT_MAX) }
    LINGER_NOT = [1, 0].pack("ii") # SO_LINGER of no time makes close send RST
    GET = "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"

    # @param receive_buffer [Integer, nil] bytes, for a client that reads slowly
    # @param secure [OpenSSL::SSL::SSLContext, nil] for a client that speaks TLS
    def initialize(port, receive_buffer: nil, secure: nil, &wait)
      @wait = wait || BLOCKING_WAIT
      @buffer = +""
      @socket = Socket.new(:INET, :STREAM)
      @socket.setsockopt(:SOCKET, :RCVBUF, receive_buffer) if receive_buffer
      connect(Socket.sockaddr_in(port, "127.0.0.1"))
      @stream = secure ? OpenSSL::SSL::SSLSocket.new(@socket, secure) : @socket
      shake_hands if secure
    end

    def get(path)
      write(format(GET, path))
    end

    def write(bytes)
      rest = bytes.b
      until rest.empty?
        written = @stream.write_nonblock(rest, exception: false)
        written == :wait_writable ? wait(IO::WRITABLE) : rest = rest.byteslice(written..)
      end
    end

    # @return [Integer, nil] the number of bytes that came; nil at the end
    def read(size = READ_SIZE)
      loop do
        bytes = @stream.read_nonblock(size, exception: false)
        next wait(IO::READABLE) if bytes == :wait_readable

        @buffer << bytes if bytes
        return bytes&.bytesize
      end
    end

    # @return [String] the body of the next answer, which has to be a whole 200
    def answer
      head = take(until_found("\r\n\r\n"))
      raise Error, "unexpected answer: #{head.lines.first}" unless head.start_with?("HTTP/1.1 200 ")

      length = head[/^content-length: (\d+)/i, 1]
      length ? take(until_arrived(length.to_i)) : chunks
    end

    def half_close
      @socket.close_write
    end

    def close
      @socket.close
    end

    def reset
      @socket.setsockopt(:SOCKET, :LINGER, LINGER_NOT)
      @socket.close
    end

    private

    def connect(address)
      wait(IO::WRITABLE) if @socket.connect_nonblock(address, exception: false) == :wait_writable
      error = @socket.getsockopt(:SOCKET, :ERROR).int
      raise SystemCallError.new("connect", error) unless error.zero?
    end

    def shake_hands
      wait(IO::READABLE) while @stream.connect_nonblock(exception: false) == :wait_readable
    end

    def wait(event)
      @wait.call(@socket, event) || raise(Error, "nothing happened for #{WAIT_MAX} s")
    end

    def chunks
      body = +""
      loop do
        size = take(until_found("\r\n")).to_i(16)
        body << take(until_arrived(size + 2)).byteslice(0, size)
        return body if size.zero?
      end
    end

    def until_found(text)
      read_more until (position = @buffer.index(text))
      position + text.bytesize
    end

    def until_arrived(size)
      read_more while @buffer.bytesize < size
      size
    end

    def read_more
      read || raise(Error, "the server ended the connection in an answer")
    end

    def take(size)
      @buffer.slice!(0, size)
    end
  end
end
