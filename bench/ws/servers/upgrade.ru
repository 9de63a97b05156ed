# frozen_string_literal: true

# For servers that know env["rack.upgrade"]: /echo; /all, whose clients get what a client of /publish says.

ECHO, SUBSCRIBER, PUBLISHER = Array.new(3) { Object.new }
HANDLERS = { "/echo" => ECHO, "/all" => SUBSCRIBER, "/publish" => PUBLISHER }.freeze

def ECHO.on_message(client, data)
  client.write(data)
end

def SUBSCRIBER.on_open(client)
  client.subscribe("all")
end

def PUBLISHER.on_message(client, data)
  client.publish("all", data)
end

run(lambda do |env|
  next [200, { "content-type" => "text/plain" }, ["Hello, world!"]] unless env["rack.upgrade?"]

  env["rack.upgrade"] = HANDLERS.fetch(env["PATH_INFO"])
  [200, {}, []]
end)
