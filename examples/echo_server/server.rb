# frozen_string_literal: true

# Sends back what it receives: ruby examples/echo_server/server.rb [PORT]
#
# Sockets are their own keys. While a client does not read, nothing more is read from it.

require "socket"
require "upwell"

events = Upwell::Loop.new
server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0, 8081)))
unsent = {}.compare_by_identity # what waits until a socket is writable

write = lambda do |socket, bytes|
  written = socket.write_nonblock(bytes, exception: false)
  rest = written.is_a?(Integer) ? bytes.byteslice(written..) : bytes
  unsent[socket] = rest unless rest.empty?
  !rest.empty?
end

serve = lambda do |socket|
  bytes = unsent.delete(socket) || socket.read_nonblock(16_384, exception: false)
  waits_to_write = write.call(socket, bytes) if bytes.is_a?(String)
  bytes ? events.watch_io(socket, socket, waits_to_write, true) : socket.close
rescue SystemCallError
  socket.close
end

accept = lambda do
  while (socket = server.accept_nonblock(exception: false)) != :wait_readable
    events.watch_io(socket, socket, false, true)
  end
end

events.watch_io(:accept, server, false, false)
%w[INT TERM].each { |name| trap(name) { events.stop } }
puts "listening on 127.0.0.1:#{server.addr[1]}"
$stdout.flush
events.each { |event| event == :accept ? accept.call : serve.call(event) }
