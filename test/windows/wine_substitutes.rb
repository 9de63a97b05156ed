# frozen_string_literal: true

require "minitest"
require "socket"
require "timeout"

# What Windows has and Wine 8 has not: UNIX sockets (Windows 10 has them; here `Socket.new(:UNIX, :STREAM)` raises Errno::EAFNOSUPPORT, as does
# socket(AF_UNIX, SOCK_STREAM, 0) in C). Tests that want two connected sockets have two of TCP.
module PairsOfTCP
  BUFFER = 32_768 # bytes

  def pair(*)
    pair = TCPServer.open("127.0.0.1", 0) { |server| [TCPSocket.new("127.0.0.1", server.addr[1]), server.accept] }
    pair.product(%i[SNDBUF RCVBUF]) { |socket, which| socket.setsockopt(:SOCKET, which, BUFFER) } # theirs are small, too
    return pair unless block_given?

    begin
      yield pair
    ensure
      pair.each(&:close)
    end
  end
end

begin
  Socket.new(:UNIX, :STREAM).close
rescue SystemCallError, SocketError
  UNIXSocket.singleton_class.prepend(PairsOfTCP)
end

# A test that hangs fails by its name, and what does not heed that ends the run, by the same name.
module Limited
  SECONDS = 240 # the slowest takes a quarter of that on a machine that does nothing else
  MORE = 60

  def run
    ending = Thread.new { end_run if sleep(SECONDS + MORE) }
    super
  ensure
    ending.kill
  end

  def capture_exceptions
    super { Timeout.timeout(SECONDS) { yield } }
  end

  private

  def end_run
    warn "#{self.class}##{name} hangs:", *Thread.list.map { |thread| thread.backtrace&.join("\n") }
    exit!(1)
  end
end

Minitest::Test.prepend(Limited)
