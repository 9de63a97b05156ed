# frozen_string_literal: true

# Echo and publish: bundle exec up_ruby examples/websocket_echo/config.ru, or up, up_node, up_bun, or their clusters.
#
# A client gets its own message back. Every client, whichever worker serves it, gets what is published about the message.

PAGE = <<~HTML
  <!DOCTYPE html>
  <html lang="en">
    <meta charset="utf-8">
    <title>Echo</title>
    <button>Send</button>
    <ul></ul>
    <script>
      const socket = new WebSocket(location.href.replace(/^http/, "ws"));
      let count = 0;

      socket.onmessage = event => {
        const line = document.createElement("li");

        line.textContent = event.data;
        document.querySelector("ul").prepend(line);
      };
      document.querySelector("button").onclick = () => socket.send("message " + ++count);
    </script>
  </html>
HTML

# The callbacks of all clients.
module Echo
  CHANNEL = :echo

  class << self
    def on_open(client)
      client.subscribe(CHANNEL)
      puts "a client has connected"
    end

    def on_message(client, data)
      client.write(data)
      client.publish(CHANNEL, "somebody has sent: #{data}")
    end

    def on_drained(client)
      puts "a client has taken everything; #{client.pending} bytes wait"
    end

    def on_shutdown(client)
      client.write("the server stops")
    end

    def on_close(_client)
      puts "a client has disconnected"
    end
  end
end

run lambda { |env|
  if env["rack.upgrade?"] == :websocket
    env["rack.upgrade"] = Echo
    next [101, {}, []]
  end

  [200, { "content-type" => "text/html; charset=utf-8" }, [PAGE]]
}
