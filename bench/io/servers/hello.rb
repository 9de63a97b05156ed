# frozen_string_literal: true

# A TCP server that answers every request with hello world, an activity a connection, written as if it blocked:
#   ruby [-r LIBRARY] hello.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../executors"

RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!"
READ_MAX = 16_384

def serve(socket)
  request = +""
  loop do
    socket.readpartial(READ_MAX, request)
    request << socket.readpartial(READ_MAX) until request.end_with?("\r\n\r\n")
    socket.write(RESPONSE)
  end
rescue EOFError, Errno::ECONNRESET, Errno::EPIPE
  nil # the client has left
ensure
  socket.close
end

port, *scheduler = ARGV
concurrency = Bench::Io::Executors.of(*scheduler)
server = TCPServer.new("127.0.0.1", Integer(port, 10))
server.listen(Socket::SOMAXCONN)
concurrency.run do
  concurrency.spawn do
    loop do
      socket = server.accept
      concurrency.spawn { serve(socket) }
    end
  end
end
