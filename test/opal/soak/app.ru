# backtick_javascript: true
# frozen_string_literal: true

require "promise/v2"
require "rack"

# Everything has the mark of whom it is for, which the query tells.
class Mixed
  TEXT = { "content-type" => "text/plain" }.freeze

  # Tells some events; the client goes when it likes, or is sent away.
  class Feed
    def on_open(client)
      mark = client.env["QUERY_STRING"]
      client.subscribe("all")
      3.times { |number| client.event("#{mark} #{number}", id: number) }
      client.close if mark.end_with?("0")
    end
  end

  # Echoes, and publishes: "publish CHANNEL TEXT".
  class Room
    def on_open(client)
      client.subscribe("all")
      client.subscribe(client.env["QUERY_STRING"])
      client.write("open")
    end

    def on_message(client, data)
      command, channel, text = data.split(" ", 3) unless data.encoding == Encoding::BINARY
      command == "publish" ? client.publish(channel, text) : client.write(data)
    end
  end

  def call(env)
    send(env["PATH_INFO"].delete_prefix("/"), env)
  end

  private

  def hello(env)
    [200, TEXT.dup, ["hello #{env["QUERY_STRING"]}"]]
  end

  def env(env)
    [200, TEXT.dup, [env.to_s]]
  end

  def echo(env)
    content = env["rack.input"].read
    [200, TEXT.merge("x-mark" => env["QUERY_STRING"], "x-sum" => content.sum.to_s), [content]]
  end

  def file(_env)
    [200, TEXT.dup, Rack::Files::Iterator.new(ENV.fetch("FILE"), [], {})]
  end

  def streamed(env)
    [200, TEXT.dup, lambda { |stream|
      5.times do |number|
        stream.write("#{env["QUERY_STRING"]} #{number}\n")
        stream.flush
      end
    }]
  end

  # Goes on when this has returned.
  def promised(env)
    [200, TEXT.dup, lambda { |stream|
      stream.write("#{env["QUERY_STRING"]} one ")
      PromiseV2.value("two").then { |text| stream.write(text) }
    }]
  end

  def failing(env)
    raise "on purpose, #{env["QUERY_STRING"]}"
  end

  def feed(env)
    env["rack.upgrade"] = Feed.new
    [200, {}, []]
  end

  def room(env)
    env["rack.upgrade"] = Room.new
    [200, {}, []]
  end
end

run Mixed.new
