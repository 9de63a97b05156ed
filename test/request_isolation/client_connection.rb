# frozen_string_literal: true

require "socket"

module RequestIsolation
  # A client saw what must not be.
  Violation = Class.new(StandardError)

  # A connection on which every wait is bounded.
  class ClientConnection
    WAIT_MAX = 30 # seconds; far longer than anything takes on a busy machine
    PIECE = 65_536

    Ended = Class.new(StandardError) # the server closed it, or reset it

    attr_reader :received

    # @param small [Boolean] whether the kernel takes little for a client that does not read
    def initialize(port, small: false)
      @socket = Socket.new(:INET, :STREAM)
      @socket.setsockopt(:SOCKET, :RCVBUF, 4096) if small
      @socket.setsockopt(:TCP, :NODELAY, true)
      connect(Socket.sockaddr_in(port, "127.0.0.1"))
      @buffer = +"".b
      @received = 0
    end

    def write(text)
      until text.empty?
        count = @socket.write_nonblock(text, exception: false)
        count == :wait_writable ? wait { @socket.wait_writable(WAIT_MAX) } : text = text.byteslice(count..)
      end
    rescue Errno::EPIPE, Errno::ECONNRESET
      nil # what there is to read tells why
    end

    # A line without its end.
    def line
      fill until (stop = @buffer.index("\r\n"))
      @buffer.slice!(0, stop + 2).delete_suffix("\r\n")
    end

    # Exactly so many bytes, in pieces.
    def read(length)
      while length.positive?
        fill if @buffer.empty?
        piece = @buffer.slice!(0, length)
        length -= piece.bytesize
        yield piece
      end
    end

    # What comes next, up to a piece.
    def read_some
      fill if @buffer.empty?
      @buffer.slice!(0, @buffer.bytesize)
    end

    def half_close
      @socket.close_write
    rescue Errno::ENOTCONN
      nil
    end

    def close
      @socket.close unless @socket.closed?
    end

    # The server gets RST instead of FIN.
    def reset
      @socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      close
    end

    private

    def connect(address)
      wait { @socket.wait_writable(WAIT_MAX) } while @socket.connect_nonblock(address, exception: false) == :wait_writable
    end

    def fill
      piece = @socket.read_nonblock(PIECE, exception: false)
      while piece == :wait_readable
        wait { @socket.wait_readable(WAIT_MAX) }
        piece = @socket.read_nonblock(PIECE, exception: false)
      end
      raise Ended, "end" unless piece

      @received += piece.bytesize
      @buffer << piece
    rescue Errno::ECONNRESET
      raise Ended, "reset"
    end

    def wait
      yield || raise(Violation, "nothing happened in #{WAIT_MAX} s")
    end
  end
end
