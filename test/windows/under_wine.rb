# frozen_string_literal: true

require "socket"

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
