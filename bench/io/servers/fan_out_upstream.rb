# frozen_string_literal: true

# What the fan-out asks: a thread a connection, one answer each. Prints its port, and ends when its input does.

require "socket"

RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: close\r\n\r\nHello, world!"

def answer(socket)
  nil until socket.gets == "\r\n"
  socket.write(RESPONSE)
ensure
  socket.close
end

server = TCPServer.new("127.0.0.1", 0)
server.listen(Socket::SOMAXCONN)
$stdout.puts server.local_address.ip_port
$stdout.flush
Thread.new { loop { Thread.new(server.accept) { |socket| answer(socket) } } }
$stdin.read
