# frozen_string_literal: true

# Clients that hear the news, and whose messages are published as news. Each is told first who serves it, and then that it was served.

class Handler
  def on_open(client)
    client.subscribe("news")
    client.write(Process.pid.to_s)
  end

  def on_message(client, data)
    client.publish("news", data)
    client.write("served")
  end
end

Upwell.subscribe("news") { nil } # from before there are clients, so that Redis knows how many processes listen

run(lambda do |env|
  env["rack.upgrade"] = Handler.new if env["rack.upgrade?"]
  [200, {}, ["here"]]
end)
