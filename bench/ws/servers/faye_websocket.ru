# frozen_string_literal: true

# For puma: /echo; /all, whose clients get what a client of /publish says. DEFLATE=1: compressed.

require "faye/websocket"
require "permessage_deflate"

CLIENTS = Set.new # of the one thread of EventMachine
DEFLATE = PermessageDeflate.configure(no_context_takeover: true, request_no_context_takeover: true)
OPTIONS = (ENV["DEFLATE"] == "1" ? { extensions: [DEFLATE] } : {}).freeze

def subscribe(client)
  client.on(:open) { CLIENTS << client }
  client.on(:close) { CLIENTS.delete(client) }
end

def upgrade(env)
  return Faye::EventSource.new(env).tap { |client| subscribe(client) } if Faye::EventSource.eventsource?(env)

  client = Faye::WebSocket.new(env, [], OPTIONS)
  case env["PATH_INFO"]
  when "/echo" then client.on(:message) { |event| client.send(event.data) }
  when "/all" then subscribe(client)
  when "/publish" then client.on(:message) { |event| CLIENTS.each { |each| each.send(event.data) } }
  end
  client
end

run(lambda do |env|
  next upgrade(env).rack_response if Faye::WebSocket.websocket?(env) || Faye::EventSource.eventsource?(env)

  [200, { "content-type" => "text/plain" }, ["Hello, world!"]]
end)
