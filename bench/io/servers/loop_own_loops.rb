# frozen_string_literal: true

# An HTTP server on callback-less reactors, Upwell::Loop or Ever::Loop, one for each of four threads:
#   ruby -r LIBRARY loop_own_loops.rb PORT CLASS [BACKEND]

require "socket"
require_relative "../http_connection"

# A connection is its own key. It comes to its thread's loop as an event, and stays there.
class LoopThread
  def initialize(loop)
    @loop = loop
    @watched = {}.compare_by_identity
  end

  def run
    @loop.each { |connection| @watched[connection] ? progress(connection) : watch(connection, :read) }
  end

  def take(connection)
    @loop.emit(connection)
  end

  private

  def watch(connection, wanted)
    @watched[connection] = wanted
    @loop.watch_io(connection, connection.io, wanted == :write, false)
  end

  def progress(connection)
    case (wanted = connection.progress)
    when @watched[connection] then nil
    when :close then close(connection)
    else
      @loop.unwatch(connection)
      watch(connection, wanted)
    end
  end

  def close(connection)
    @loop.unwatch(connection)
    @watched.delete(connection)
    connection.io.close
  end
end

THREADS = 4
port, class_name, backend = ARGV
new_loop = -> { Object.const_get(class_name).then { |reactor| backend ? reactor.new(backend: backend) : reactor.new } }
server = TCPServer.new("127.0.0.1", Integer(port, 10))
server.listen(Socket::SOMAXCONN)
threads = Array.new(THREADS) { LoopThread.new(new_loop.call).tap { |thread| Thread.new { thread.run } } }
threads.cycle { |thread| thread.take(HttpConnection.new(server.accept)) }
