# frozen_string_literal: true

# Applications of the shapes that Iodine's drafts and examples have: an echo, a chat, a broadcast, and protocols to choose from. An engine tells
# what passes through it, where the application is started so.

$stdout.sync = true

module Echo
  def on_open(client)
    client.write("Welcome, #{client.object_id.positive?}.")
  end

  def on_message(client, data)
    client.write(data)
    puts "#{client.pending} have not left yet"
  end

  def on_drained(_client)
    puts "all has left"
  end

  def on_shutdown(client)
    client.write("The server is going away. Goodbye.")
  end

  def on_close(client)
    puts "#{client.env["PATH_INFO"]} is closed"
  end
  extend self # rubocop:disable Style/ModuleFunction -- as the examples do
end

module ForeignPubSub; end

module Chat
  def on_open(client)
    client.class.prepend(ForeignPubSub) unless client.pubsub?
    client.subscribe("chat")
    client.publish("chat", "#{client.env[:nickname]} joined the chat.")
  end

  def on_message(client, data)
    client.publish("chat", "#{client.env[:nickname]}: #{data}")
  end

  def on_shutdown(client)
    client.write("The server is going away. Goodbye.")
  end

  def on_close(client)
    client.publish("chat", "#{client.env[:nickname]} left the chat.")
  end
  extend self # rubocop:disable Style/ModuleFunction -- as the examples do
end

module Broadcast
  def on_open(client)
    client.subscribe(:broadcast)
    client.subscribe(:broadcast_bytes, as: :binary)
  end

  def on_message(client, data)
    client.publish(data.start_with?("b") ? :broadcast_bytes : :broadcast, data)
  end
  extend self # rubocop:disable Style/ModuleFunction -- as the examples do
end

# The default, which hands all on to the one that was it before.
class Reporter
  def initialize
    @target = Upwell::PubSub.default
    Upwell::PubSub.default = self
    Upwell::PubSub.attach(self)
  end

  def subscribe(channel, is_pattern = nil)
    puts "subscribed to #{channel} (#{is_pattern || "exact match"})"
  end

  def unsubscribe(channel, is_pattern = nil)
    puts "unsubscribed from #{channel} (#{is_pattern || "exact match"})"
  end

  def publish(channel, message)
    puts "published in #{channel}: #{message[0..12]}"
    @target.publish(channel, message)
  end
end

Reporter.new if ENV["REPORT"]

PROTOCOLS = { "chat" => Chat, "echo" => Echo }.freeze
HANDLERS = { "/echo" => Echo, "/broadcast" => Broadcast }.freeze

def protocol_of(env)
  env["HTTP_SEC_WEBSOCKET_PROTOCOL"].to_s.split(/,\s?/).find { |name| PROTOCOLS.key?(name) }
end

run(lambda do |env|
  next [200, { "content-type" => "text/plain", "content-length" => "5" }, ["Hello"]] unless env["rack.upgrade?"]

  env[:nickname] = env["PATH_INFO"][/\A\/chat\/(\w+)/, 1] || "Someone"
  protocol = protocol_of(env)
  next [400, {}, ["Unsupported protocol"]] if env["PATH_INFO"] == "/protocols" && !protocol

  env["rack.upgrade"] = PROTOCOLS.fetch(protocol) { HANDLERS.fetch(env["PATH_INFO"], Chat) }
  protocol ? [101, { "Sec-Websocket-Protocol" => protocol }, []] : [0, {}, []]
end)
