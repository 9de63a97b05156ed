# frozen_string_literal: true

# Sends every message back as what it was.
class WebSocketEcho
  REQUIRED = { "upgrade" => "websocket", "sec-websocket-version" => "13" }.freeze

  def call(env)
    return [426, REQUIRED, []] unless env["rack.upgrade?"] == :websocket

    env["rack.upgrade"] = self
    [200, {}, []]
  end

  def on_message(client, data)
    client.write(data)
  end
end

run WebSocketEcho.new
