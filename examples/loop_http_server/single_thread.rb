# frozen_string_literal: true

# An HTTP server on one thread: ruby examples/loop_http_server/single_thread.rb [PORT]

require "socket"
require "upwell"
require_relative "connection"

EVENTS = Upwell::Loop.new
SERVER = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8080)))

def serve(connection)
  case connection.advance
  when :wait_readable then EVENTS.watch_io(connection, connection.io, false, true)
  when :wait_writable then EVENTS.watch_io(connection, connection.io, true, true)
  else connection.io.close
  end
end

# All who wait: with one in each turn the last of many would wait for as many turns of all the others.
def accept
  while (io = SERVER.accept_nonblock(exception: false)) != :wait_readable
    serve(Connection.new(io))
  end
end

EVENTS.watch_io(:accept, SERVER, false, false)
%w[INT TERM].each { |name| trap(name) { EVENTS.stop } }
puts "listening on http://127.0.0.1:#{SERVER.addr[1]}"
$stdout.flush
EVENTS.each { |event| event == :accept ? accept : serve(event) }
