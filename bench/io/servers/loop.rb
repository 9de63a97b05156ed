# frozen_string_literal: true

# An HTTP server on a callback-less reactor, Upwell::Loop or Ever::Loop, in one thread:
#   ruby -r LIBRARY loop.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../nonblocking_http_connection"
require_relative "../reactor_connection_watcher"

# The listener and all connections are watched by one reactor.
class LoopServer
  def initialize(port, loop)
    @server = TCPServer.new("127.0.0.1", port)
    @server.listen(Socket::SOMAXCONN)
    @loop = loop
    @connections = ReactorConnectionWatcher.new(loop)
  end

  def run
    @loop.watch_io(:accept, @server, false, false)
    @loop.each { |key| key == :accept ? accept : @connections.progress(key) }
  end

  private

  def accept
    socket = @server.accept_nonblock(exception: false)
    @connections.watch(NonblockingHTTPConnection.new(socket), :read) unless socket == :wait_readable
  end
end

port, class_name, backend = ARGV
reactor = Object.const_get(class_name)
LoopServer.new(Integer(port, 10), backend ? reactor.new(backend: backend) : reactor.new).run
