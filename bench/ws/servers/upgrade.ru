# frozen_string_literal: true

# For servers that know env["rack.upgrade"]: /echo; /all, whose clients get what a client of /publish says.

# Answers each message by the same.
module Echo
  def self.on_message(client, data)
    client.write(data)
  end
end

# Hears what is published.
module Subscriber
  def self.on_open(client)
    client.subscribe("all")
  end
end

# Publishes what it says.
module Publisher
  def self.on_message(client, data)
    client.publish("all", data)
  end
end

HANDLERS = { "/echo" => Echo, "/all" => Subscriber, "/publish" => Publisher }.freeze

run(lambda do |env|
  next [200, { "content-type" => "text/plain" }, ["Hello, world!"]] unless env["rack.upgrade?"]

  env["rack.upgrade"] = HANDLERS.fetch(env["PATH_INFO"])
  [200, {}, []]
end)
