# frozen_string_literal: true

# An HTTP server whose worker threads have a queue each: ruby examples/loop_http_server/worker_threads_own_queues.rb [PORT [THREADS]]
#
# A connection stays with its worker, so what belongs to it needs no lock.

require "socket"
require "upwell"
require_relative "connection"

EVENTS = Upwell::Loop.new
SERVER = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8080)))

# A connection whose events are one worker's.
class AssignedConnection < Connection
  attr_reader :queue

  def initialize(io, queue)
    super(io)
    @queue = queue
  end
end

def serve(connection)
  case connection.advance
  when :wait_readable then EVENTS.watch_io(connection, connection.io, false, true)
  when :wait_writable then EVENTS.watch_io(connection, connection.io, true, true)
  else connection.io.close
  end
end

def work(queue)
  while (connection = queue.pop)
    serve(connection)
  end
end

def accept(queues)
  while (io = SERVER.accept_nonblock(exception: false)) != :wait_readable
    queue = queues.next
    queue << AssignedConnection.new(io, queue)
  end
end

queues = Array.new(Integer(ARGV.fetch(1, 4))) { Thread::Queue.new }
workers = queues.map { |queue| Thread.new { work(queue) } }
in_turn = queues.cycle

EVENTS.watch_io(:accept, SERVER, false, false)
%w[INT TERM].each { |name| trap(name) { EVENTS.stop } }
puts "listening on http://127.0.0.1:#{SERVER.addr[1]}"
$stdout.flush
EVENTS.each { |event| event == :accept ? accept(in_turn) : event.queue << event }
queues.each(&:close)
workers.each(&:join)
