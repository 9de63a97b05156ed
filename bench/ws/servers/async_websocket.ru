# frozen_string_literal: true

# For falcon: /echo; /all, whose clients get what a client of /publish says.

require "async/websocket/adapters/rack"
require "protocol/http/body/writable"

CLIENTS = Set.new
EVENT_STREAMS = Set.new

LEFT = [EOFError, SystemCallError, Protocol::WebSocket::ClosedError].freeze # of a client that is gone

def each_message(env, &block)
  Async::WebSocket::Adapters::Rack.open(env) do |client|
    while (message = client.read)
      block.call(client, message)
    end
  rescue *LEFT
    nil
  end
end

def echo(env)
  each_message(env) do |client, message|
    client.send_text(message.buffer)
    client.flush
  end
end

def subscribe(env)
  Async::WebSocket::Adapters::Rack.open(env) do |client|
    CLIENTS << client
    client.read
  rescue *LEFT
    nil
  ensure
    CLIENTS.delete(client)
  end
end

def send_to(client, text)
  client.send_text(text)
  client.flush
rescue *LEFT
  nil # its own fiber sees that, too
end

# To those who are there when it begins: others may come and go while one is written to.
def publish(env)
  each_message(env) do |_, message|
    CLIENTS.to_a.each { |client| send_to(client, message.buffer) }
    EVENT_STREAMS.delete_if(&:closed?)
    event = "data: #{message.buffer}\n\n" if EVENT_STREAMS.any?
    EVENT_STREAMS.each { |body| body.write(event) }
  end
end

def event_stream
  body = Protocol::HTTP::Body::Writable.new
  EVENT_STREAMS << body
  [200, { "content-type" => "text/event-stream" }, body]
end

run(lambda do |env|
  answer = case env["PATH_INFO"]
           when "/echo" then echo(env)
           when "/publish" then publish(env)
           when "/all" then subscribe(env) || event_stream
           end
  answer || [200, { "content-type" => "text/plain" }, ["Hello, world!"]]
end)
