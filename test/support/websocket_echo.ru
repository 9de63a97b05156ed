# frozen_string_literal: true

# Sends every message back as what it was, but for the text "close CODE REASON": then it closes.
class WebSocketEcho
  REQUIRED = { "upgrade" => "websocket", "sec-websocket-version" => "13" }.freeze

  def call(env)
    return [426, REQUIRED, []] unless env["rack.upgrade?"] == :websocket

    env["rack.upgrade"] = self
    [200, {}, []]
  end

  def on_message(client, data)
    return client.write(data) unless data.encoding == Encoding::UTF_8 && data.start_with?("close ")

    _, code, reason = data.split(" ", 3)
    client.close(code.to_i, reason.to_s)
  end
end

run WebSocketEcho.new
