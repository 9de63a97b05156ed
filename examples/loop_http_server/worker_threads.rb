# frozen_string_literal: true

# An HTTP server whose worker threads share one queue: ruby examples/loop_http_server/worker_threads.rb [PORT [THREADS]]
#
# A worker watches its connection itself: that wakes the loop only when it sleeps, and once for all that comes until it runs.

require "socket"
require "upwell"
require_relative "connection"

EVENTS = Upwell::Loop.new
SERVER = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8080)))
JOBS = Thread::Queue.new

def serve(connection)
  case connection.advance
  when :wait_readable then EVENTS.watch_io(connection, connection.io, false, true)
  when :wait_writable then EVENTS.watch_io(connection, connection.io, true, true)
  else connection.io.close
  end
end

def accept
  while (io = SERVER.accept_nonblock(exception: false)) != :wait_readable
    JOBS << Connection.new(io)
  end
end

workers = Array.new(Integer(ARGV.fetch(1, 4))) do
  Thread.new do
    while (connection = JOBS.pop)
      serve(connection)
    end
  end
end

EVENTS.watch_io(:accept, SERVER, false, false)
%w[INT TERM].each { |name| trap(name) { EVENTS.stop } }
puts "listening on http://127.0.0.1:#{SERVER.addr[1]}"
$stdout.flush
EVENTS.each { |event| event == :accept ? accept : JOBS << event }
JOBS.close
workers.each(&:join)
