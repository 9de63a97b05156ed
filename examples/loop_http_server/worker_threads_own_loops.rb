# frozen_string_literal: true

# An HTTP server whose worker threads have a loop each: ruby examples/loop_http_server/worker_threads_own_loops.rb [PORT [THREADS]]
#
# A connection stays with its worker, is watched as long as it lives, and passes through no queue: the least work for each request.

require "socket"
require "upwell"
require_relative "connection"

SERVER = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8080)))

# A thread that serves the connections given to it.
class Worker
  def initialize
    @loop = Upwell::Loop.new
    @awaited = {}.compare_by_identity
    @thread = Thread.new { @loop.each { |connection| serve(connection) } }
  end

  def take(connection)
    @loop.emit(connection)
  end

  def stop
    @loop.stop
    @thread.join
  end

  private

  def serve(connection)
    wanted = connection.advance
    watch(connection, wanted) if wanted != @awaited[connection]
  end

  def watch(connection, wanted)
    @loop.unwatch(connection)
    @awaited[connection] = wanted
    return @loop.watch_io(connection, connection.io, wanted == :wait_writable, false) if wanted

    @awaited.delete(connection)
    connection.io.close
  end
end

workers = Array.new(Integer(ARGV.fetch(1, 4))) { Worker.new }
acceptor = Upwell::Loop.new
acceptor.watch_io(:accept, SERVER, false, false)
%w[INT TERM].each { |name| trap(name) { acceptor.stop } }
puts "listening on http://127.0.0.1:#{SERVER.addr[1]}"
$stdout.flush
turns = workers.cycle
acceptor.each do
  io = SERVER.accept_nonblock(exception: false)
  turns.next.take(Connection.new(io)) unless io == :wait_readable
end
workers.each(&:stop)
