# frozen_string_literal: true

# The server that tutorials of the fiber scheduler begin with: one request a connection. It blocks, or has a fiber a connection:
#   ruby [-r LIBRARY] tutorial.rb PORT [CLASS [BACKEND]]

require "socket"
require_relative "../executors"

RESPONSE = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: close\r\n\r\nHello, world!"

def serve(socket)
  while (line = socket.gets)
    break if line == "\r\n"
  end
  socket.write(RESPONSE) if line
rescue Errno::ECONNRESET, Errno::EPIPE
  nil # the client has left
ensure
  socket.close
end

def serve_one_after_another(server)
  loop { serve(server.accept) }
end

def serve_side_by_side(server, concurrency)
  concurrency.run do
    concurrency.spawn do
      loop do
        socket = server.accept
        concurrency.spawn { serve(socket) }
      end
    end
  end
end

port, *scheduler = ARGV
server = TCPServer.new("127.0.0.1", Integer(port, 10))
server.listen(Socket::SOMAXCONN)
scheduler.empty? ? serve_one_after_another(server) : serve_side_by_side(server, Bench::Io::Executors.of(*scheduler))
