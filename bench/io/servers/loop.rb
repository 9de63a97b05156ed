# frozen_string_literal: true

# An HTTP server on a callback-less reactor, Upwell::Loop or Ever::Loop, in one thread:
#   ruby -r LIBRARY loop.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../http_connection"

# A connection is its own key, and watched as long as it lives: for reading, or for writing while its client does not keep up.
class LoopServer
  def initialize(port, loop)
    @server = TCPServer.new("127.0.0.1", port)
    @server.listen(Socket::SOMAXCONN)
    @loop = loop
  end

  def run
    @loop.watch_io(:accept, @server, false, false)
    @loop.each { |key| key == :accept ? accept : progress(key) }
  end

  private

  def accept
    socket = @server.accept_nonblock(exception: false)
    return if socket == :wait_readable

    connection = HttpConnection.new(socket)
    @loop.watch_io(connection, socket, false, false)
  end

  def progress(connection)
    case (wanted = connection.progress)
    when connection.awaited then nil
    when :close then close(connection)
    else await(connection, wanted)
    end
  end

  def await(connection, wanted)
    @loop.unwatch(connection)
    @loop.watch_io(connection, connection.io, wanted == :write, false)
    connection.awaited = wanted
  end

  def close(connection)
    @loop.unwatch(connection)
    connection.io.close
  end
end

port, class_name, backend = ARGV
reactor = Object.const_get(class_name)
LoopServer.new(Integer(port, 10), backend ? reactor.new(backend: backend) : reactor.new).run
