# frozen_string_literal: true

require "rack/request"
require "async/http/internet/instance"
require "async/websocket/adapters/rack"

# Says what it hears, and asks itself through a client of its own.
run(lambda do |env|
  request = Rack::Request.new(env)
  case request.path_info
  when "/echo"
    Async::WebSocket::Adapters::Rack.open(env) do |connection|
      while (message = connection.read)
        connection.write(message)
        connection.flush
      end
    end || [400, {}, []]
  when "/ask"
    body = Sync { Async::HTTP::Internet.get("#{request.base_url}/marker?m=#{request.params["m"]}", &:read) }
    [200, { "content-type" => "text/plain" }, [body]]
  else
    sleep(rand(0.001..0.01))
    [200, { "content-type" => "text/plain" }, [request.params["m"].to_s]]
  end
end)
