# frozen_string_literal: true

# An HTTP server in plain blocking Ruby, a fiber for each connection: ruby examples/scheduler/http_server.rb [PORT]

require "socket"
require "upwell"

LINE_BYTES_MAX = 8192
LINES_MAX = 100

# The lines of a request's head without the empty one that ends it; nil when the client has closed the connection.
def read_head(socket)
  head = []
  while (line = socket.gets("\r\n", LINE_BYTES_MAX))
    return head if line == "\r\n"

    head << line
    raise IOError, "the head of the request is too long" if head.size > LINES_MAX || !line.end_with?("\r\n")
  end
end

def serve(socket)
  while (head = read_head(socket))
    body = "#{head.first.to_s.split[1]} at #{Time.now}\n"
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\n\r\n", body)
    break if head.any? { |line| line.match?(/\Aconnection:\s*close\b/i) }
  end
rescue SystemCallError, IOError
  nil # the client has gone, or sent what is no request
ensure
  socket.close
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8080)))
%w[INT TERM].each { |name| trap(name) { exit } }
puts "listening on http://127.0.0.1:#{server.addr[1]}"
$stdout.flush
Fiber.set_scheduler(Upwell::Scheduler.new)
Fiber.schedule do
  loop do
    socket = server.accept
    Fiber.schedule { serve(socket) }
  end
end
