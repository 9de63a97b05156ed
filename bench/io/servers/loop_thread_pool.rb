# frozen_string_literal: true

# An HTTP server on a callback-less reactor, Upwell::Loop or Ever::Loop, with threads that take ready connections from one queue:
#   ruby -r LIBRARY loop_thread_pool.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../nonblocking_http_connection"

# A connection is its own key. It is watched once at a time; the worker that served it has the loop watch it again, by an event: Ever::Loop
# takes nothing else from another thread.
class LoopWorkersServer
  WORKERS = 4
  Watch = Struct.new(:connection, :writable)

  def initialize(port, loop)
    @server = TCPServer.new("127.0.0.1", port)
    @server.listen(Socket::SOMAXCONN)
    @loop = loop
    @ready = Queue.new
  end

  def run
    WORKERS.times { Thread.new { work } }
    @loop.watch_io(:accept, @server, false, false)
    @loop.each { |key| handle(key) }
  end

  private

  def handle(key)
    case key
    when NonblockingHTTPConnection then @ready << key
    when Watch then @loop.watch_io(key.connection, key.connection.io, key.writable, true)
    when :accept then accept
    end
  end

  def accept
    socket = @server.accept_nonblock(exception: false)
    @loop.watch_io(NonblockingHTTPConnection.new(socket), socket, false, true) unless socket == :wait_readable
  end

  def work
    while (connection = @ready.shift)
      wanted = connection.progress
      wanted == :close ? connection.io.close : @loop.emit(Watch.new(connection, wanted == :write))
    end
  end
end

port, class_name, backend = ARGV
reactor = Object.const_get(class_name)
LoopWorkersServer.new(Integer(port, 10), backend ? reactor.new(backend: backend) : reactor.new).run
