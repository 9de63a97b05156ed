# frozen_string_literal: true

# Answers that take no time, a moment, or several pieces; an echo of what is sent; and WebSockets.

# Sends each message back.
module Echo
  def self.on_message(client, data)
    client.write(data)
  end
end

# A body in pieces, between which the loop has turns.
class Pieces
  def each
    5.times do |number|
      yield number.to_s * 1000
      sleep 0.002
    end
  end
end

run(lambda do |env|
  if env["rack.upgrade?"] == :websocket
    env["rack.upgrade"] = Echo
    next [0, {}, []]
  end
  body = case env["PATH_INFO"]
         when "/slow" then [sleep(0.03) && "slow"]
         when "/pieces" then Pieces.new
         when "/echo" then [env["rack.input"].read]
         else ["quick"]
         end
  [200, { "content-type" => "text/plain" }, body]
end)
