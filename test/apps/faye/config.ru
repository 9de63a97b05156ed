# frozen_string_literal: true

require "faye/websocket"

# Says what it hears. Its event loop, EventMachine's, runs on a thread of its own; the socket comes from the server by full hijack.
run(lambda do |env|
  next [200, { "content-type" => "text/plain" }, ["up"]] unless Faye::WebSocket.websocket?(env)

  socket = Faye::WebSocket.new(env)
  socket.on(:message) { |event| socket.send(event.data) }
  socket.rack_response
end)
