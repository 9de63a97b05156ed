# frozen_string_literal: true

# A chat over WebSockets: bundle exec up_ruby examples/websocket_chat/config.ru, or up, up_node, up_bun, or their clusters, unchanged.
#
# What one says is published, and the server hands it to everyone, whichever worker serves them. Who only listens asks for server-sent events:
# curl -N -H "Accept: text/event-stream" localhost:3000

require "json"

PAGE = <<~HTML
  <!DOCTYPE html>
  <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Chat</title>
    <form>
      <input id="text" aria-label="Message" autofocus autocomplete="off" maxlength="500">
      <button>Say it</button>
    </form>
    <ul id="said" aria-live="polite"></ul>
    <script>
      const name = prompt("Your name?") || "somebody";
      const socket = new WebSocket(location.href.replace(/^http/, "ws").replace(/[?#].*/, "") + "?" + encodeURIComponent(name));

      socket.onmessage = event => {
        const { from, text } = JSON.parse(event.data), line = document.createElement("li");

        line.textContent = from + ": " + text;
        document.getElementById("said").prepend(line);
      };
      document.forms[0].onsubmit = event => {
        event.preventDefault();
        socket.send(document.getElementById("text").value);
        event.target.reset();
      };
    </script>
  </html>
HTML

# Someone who is connected: the handler of one client.
class Guest
  CHANNEL = "chat"
  TEXT_MAX = 500 # characters

  def initialize(name)
    @name = name
  end

  def on_open(client)
    client.subscribe(CHANNEL)
    say("is here")
  end

  def on_message(client, data)
    data.encoding == Encoding::UTF_8 && data.size <= TEXT_MAX ? say(data) : client.close(1008, "#{TEXT_MAX} characters of text at most")
  end

  def on_close(_client)
    say("has left")
  end

  private

  def say(text)
    Upwell.publish(CHANNEL, JSON.generate(from: @name, text: text))
  end
end

# Someone who only listens.
class Listener # rubocop:disable Style/OneClassPerFile -- an example in one file
  def on_open(client)
    client.subscribe(Guest::CHANNEL)
  end
end

# Pages of other sites may not speak in the name of who looks at them.
def foreign?(env)
  env["HTTP_ORIGIN"] ? env["HTTP_ORIGIN"].sub(%r{\Ahttps?://}, "") != env["HTTP_HOST"] : false
end

run lambda { |env|
  case env["rack.upgrade?"]
  when :websocket
    next [403, {}, []] if foreign?(env)

    env["rack.upgrade"] = Guest.new(Rack::Utils.unescape(env["QUERY_STRING"])[0, 24])
    [101, {}, []]
  when :sse
    env["rack.upgrade"] = Listener.new
    [200, {}, []]
  else
    [200, { "content-type" => "text/html; charset=utf-8" }, [PAGE]]
  end
}
