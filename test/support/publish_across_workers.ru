# frozen_string_literal: true

# Clients that hear, and publish in every way; and what each process hears. A message of a client is "command arguments".

$stdout.sync = true

class Handler
  PUBLISH = {
    "client" => ->(client, channel, text) { client.publish(channel, text) },
    "here" => ->(client, channel, text) { client.publish(channel, text, false) },
    "binary" => ->(client, channel, text) { client.publish(channel, text.b) },
    "server" => ->(_client, channel, text) { Upwell.publish(channel, text) },
    "thread" => ->(_client, channel, text) { Thread.new { Upwell.publish(channel, text) }.value },
    "count" => ->(client, channel, text) { Integer(text).times { |number| client.publish(channel, number.to_s) } }
  }.freeze

  def on_open(client)
    channel, pattern = client.env["QUERY_STRING"].split("&").map { |name| name.delete_prefix("pattern=") unless name.empty? }
    client.subscribe(channel) if channel
    client.subscribe(pattern, match: :redis) if pattern
    client.write("open #{Process.pid}")
  end

  def on_message(client, data)
    command, channel, text = data.split(" ", 3)
    PUBLISH.fetch(command).call(client, channel, text)
    client.write("done")
  end

  def on_shutdown(client)
    client.write("shutdown")
  end
end

Upwell.subscribe("news") { |_channel, message| $stdout.write("#{Process.pid} heard #{message} #{message.encoding}.\n") }

run(lambda do |env|
  env["rack.upgrade"] = Handler.new if env["rack.upgrade?"]
  name, text = env["QUERY_STRING"].split("=", 2)
  case env["PATH_INFO"]
  when "/publish" then [200, {}, [Upwell.publish(name, text).to_s]]
  when "/stats" then [200, {}, [Process.pid.to_s, *Upwell::PubSub::CLUSTER.stats.map { |key, count| " #{key}=#{count}" }]]
  else [200, {}, [Process.pid.to_s]]
  end
end)
