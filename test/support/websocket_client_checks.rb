# frozen_string_literal: true

require_relative "raw_client"
require_relative "websocket_client"

# What a client of websocket_clients.ru can do, wherever that is served.
module WebSocketClientChecks
  UPGRADE = "Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
  TEXTS = ["", "häy", "x" * 125, "ä" * 63, "x" * 70_000].freeze

  # Once it is open.
  def join(server, name, path = "/", **options)
    WebSocketClient.open(server.port, "#{path}?#{name}", **options) do |client|
      server.await(/^#{name}: open/)
      yield client
    end
  end

  def ask(client, text)
    client.send_text(text)
    client.receive
  end

  # What the server has told of a client, as far as that has been read.
  def told(server, name)
    server.lines.join.scan(/^#{name}: (.*)\.$/).flatten
  end

  def check_echo(server)
    join(server, "echo") do |client|
      TEXTS.each do |text|
        assert_equal [text, Encoding::UTF_8], ask(client, text).then { |answer| [answer, answer.encoding] }
        client.send_binary(text)
        assert_equal [text.b, Encoding::BINARY], client.receive.then { |answer| [answer, answer.encoding] }
      end
      assert_equal 1000, client.close
    end
    server.await(/echo: close false -1 false/)
  end

  def check_answers(server)
    join(server, "answers", "/body") do |client|
      server.await(/body: closed/) if told(server, "body").empty?
      assert_equal [["b"], ["c=d"], ["websocket"], nil], client.response.headers.values_at("x-a", "set-cookie", "upgrade", "content-length")
    end
    %w[/zero /protocol /lint /lint/protocol /hijacked].each do |path|
      join(server, "answers", path, protocols: "talk, chat") do |client|
        assert_equal [path.end_with?("protocol") ? "chat" : nil, "x"], [client.protocol, ask(client, "x")], path
      end
      server.await(/answers: close/)
    end
  end

  def check_ways(server)
    { "/refused" => 403, "/wrong" => 500 }.each do |path, status|
      error = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, path) }
      assert_equal status, error.response.status
    end
    assert_equal "nil", RawClient.get(server.port, "/").body
    not_upgraded.each do |line, body|
      response = RawClient.open(server.port) do |client|
        client.write("#{line}\r\n#{UPGRADE}\r\n")
        client.response(head: line.start_with?("HEAD"))
      end
      assert_equal [200, body], [response.status, response.body], line
    end
  end

  # RFC 6455, section 4.4. A list is no version.
  def check_versions(server)
    ["8", "14", "13, 8", "x"].each do |version|
      error = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, headers: { "Sec-WebSocket-Version" => version }) }
      assert_equal [426, ["13"], ["websocket"]],
                   [error.response.status, *error.response.headers.values_at("sec-websocket-version", "upgrade")], version
    end
    assert_equal "nil", RawClient.get(server.port, "/").body
  end

  def check_ends(server)
    { "close" => [1000, ""], "close 4001 bye ä" => [4001, "bye ä"], "close 3000 #{"ä" * 70}" => [3000, "ä" * 61],
      "close 1005" => [1011, ""] }.each do |text, expected|
      join(server, "ends") { |client| assert_equal [nil, *expected], [ask(client, text), client.close_code, client.close_reason] }
      server.await(/ends: close false -1 false/)
    end
    join(server, "vanished", &:close_socket)
    server.await(/vanished: close false -1 false/)
  end

  # What is no upgrade, and the body of its answer.
  def not_upgraded
    { "HEAD / HTTP/1.1" => "", "POST / HTTP/1.1" => "nil", "GET / HTTP/1.0" => "nil" }
  end

  def check_drained(server)
    join(server, "drained", "/drained") do |client|
      server.await(/drained: drained/)
      client.send_text("bulk 16")
      16.times { assert_equal 65_536, client.receive.bytesize }
      server.await(/drained: drained/)
    end
    server.await(/drained: close/)
  end

  def check_settings(server)
    join(server, "settings") do |client|
      assert_match(%r{\A#<Upwell::Client websocket open> true / 40(\.0)? 0\z}, ask(client, "about"))
      assert_equal "ä", ask(client, "latin")
      client.send_text("timeout 0.05")
      assert_equal :ping, client.event.type
      client.pong
      client.send_text("timeout 0")
      assert_equal 0.0, Float(ask(client, "about").split[-2])
      client.send_text("handler")
      client.send_text("who hears this?")
      assert_equal 1000, client.close
    end
    ["broken", "event x", "number 5"].each do |text|
      join(server, "settings") { |client| assert_equal [nil, 1011], [ask(client, text), client.close_code] }
      server.await(/settings: close/)
    end
  end
end
