# frozen_string_literal: true

# An HTTP server on callback-less reactors, Upwell::Loop or Ever::Loop, one for each of four threads:
#   ruby -r LIBRARY loop_per_thread.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../nonblocking_http_connection"
require_relative "../reactor_connection_watcher"

# A connection comes to its thread's loop as an event, and stays there.
class LoopThread
  def initialize(loop)
    @loop = loop
    @connections = ReactorConnectionWatcher.new(loop)
  end

  def run
    @loop.each { |connection| @connections.progress(connection) }
  end

  def take(connection)
    @loop.emit(connection)
  end
end

THREADS = 4
port, class_name, backend = ARGV
new_loop = -> { Object.const_get(class_name).then { |reactor| backend ? reactor.new(backend: backend) : reactor.new } }
server = TCPServer.new("127.0.0.1", Integer(port, 10))
server.listen(Socket::SOMAXCONN)
threads = Array.new(THREADS) { LoopThread.new(new_loop.call).tap { |thread| Thread.new { thread.run } } }
threads.cycle { |thread| thread.take(NonblockingHTTPConnection.new(server.accept)) }
