# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client_checks"
require_relative "../support/opal_runtimes"

# Clients that stay after their request, on each JavaScript runtime: the application is the one of the tests on MRI.
class OpalWebSocketClientsTest < Minitest::Test
  include WebSocketClientChecks
  include OpalRuntimes

  CLIENT_BYTES_MAX = 200_000
  WEB_SOCKET = "GET /?a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
  PINGS = "\x89\xFD\0\0\0\0#{"p" * 125}".b * 500
  PINGS_MAX = 600 # times
  HEAP_MB = 80
  SPECKS = 1_000_000 # of 2 bytes each, together less than may wait
  CHECKS = %i[echo answers ways versions errors ends drained settings events].freeze

  # Each test for each runtime.
  def self.on_each_runtime(name, *arguments, &block)
    OpalProcess::RUNTIMES.each_key do |command|
      define_method(:"test_#{name}_on_#{command}") do
        need(command)
        serve(command, *arguments) { |server| instance_exec(server, &block) }
      end
    end
  end

  on_each_runtime "all_that_a_client_can_do" do |server|
    CHECKS.each { |name| send(:"check_#{name}", server) }
    assert_predicate server.stop, :success?, server.lines.join
  end

  on_each_runtime "a_server_that_ends_lets_its_clients_go", "--drain-timeout", "600" do |server|
    join(server, "a") do |one|
      join(server, "b") do |other|
        server.signal("TERM")
        server.await(/SIGTERM: closing 2 WebSockets and event streams, for at most 600 s/)
        [one, other].each { |client| assert_equal ["going", nil, 1001], [client.receive, client.receive, client.close_code] }
      end
    end
    assert_predicate server.await_end, :success?
    %w[a b].each { |name| assert_equal ["open", "shutdown", "close false -1 false"], told(server, name) }
  end

  on_each_runtime "a_server_that_ends_has_its_event_streams_come_back" do |server|
    RawClient.open(server.port) do |client|
      listen(client, "/?a")
      server.await(/a: open/)
      server.signal("TERM")
      retry_ms = lines_of(client).to_a.join[/data: going\n\nretry: (\d+)\n\n\z/, 1]
      assert_includes 1000..5000, Integer(retry_ms)
    end
    assert_predicate server.await_end, :success?
  end

  on_each_runtime "who_does_not_read_is_closed", "--client-bytes-max", CLIENT_BYTES_MAX.to_s do |server|
    join(server, "a") do |client|
      client.send_text("flood")
      pieces = 0
      pieces += 1 while client.receive
      assert_operator pieces, :>, CLIENT_BYTES_MAX / 65_536
      assert_equal 1008, client.close_code
    end
    server.await(/a: close false -1 false/)
  end

  # uWebSockets.js keeps no more of a message than its bytes; Bun's memory cannot be bounded.
  def test_empty_messages_that_nobody_takes_need_little_room_on_up_node
    need("up_node")
    OpalProcess.open("up_node", app: "websocket_clients.ru", environment: { "NODE_OPTIONS" => "--max-old-space-size=#{HEAP_MB}" }) do |server|
      join(server, "a") do |client|
        client.send_text("specks #{SPECKS}")
        server.await(/a: specks/)
        assert_equal "here", join(server, "b") { |other| ask(other, "here") }
      end
    end
  end

  # On Node it is not answered any more.
  %w[up up_bun].each do |command|
    define_method("test_who_asks_and_does_not_read_is_cut_on_#{command}") do
      need(command)
      serve(command, "--client-bytes-max", CLIENT_BYTES_MAX.to_s) do |server|
        client = RawClient.new(server.port, ahead: 65_536)
        client.write(WEB_SOCKET)
        nil until client.socket.gets == "\r\n"
        assert_raises(Errno::EPIPE, Errno::ECONNRESET) { PINGS_MAX.times { client.write(PINGS) } }
        server.await(/a: close false -1 false/)
      ensure
        client&.close
      end
    end
  end

  on_each_runtime "who_is_silent_is_asked", "--client-timeout", "0.05" do |server|
    join(server, "a") do |client|
      assert_equal :ping, client.event.type
      client.pong
      assert_equal "0.05", ask(client, "about").split[-2]
    end
    RawClient.open(server.port) do |client|
      listen(client, "/?b")
      assert_equal [":\n", "\n"] * 2, lines_of(client).first(4) # the first may be that with which the head leaves
    end
  end

  # uWebSockets.js and Bun end the connection without a word.
  on_each_runtime "too_long_a_message", "--message-bytes-max", "1000" do |server|
    join(server, "a") do |client|
      assert_equal "x" * 1000, ask(client, "x" * 1000)
      client.send_text("x" * 1001)
      assert_includes [1009, nil], end_of(client)
    end
    server.await(/a: close false -1 false/)
  end

  private

  def serve(command, *arguments)
    OpalProcess.open(command, "--drain-timeout", "16", *arguments, app: "websocket_clients.ru") { |server| yield server }
  end

  # uWebSockets.js and Bun do not speak HTTP/1.0.
  def not_upgraded
    super.reject { |line, _| line.end_with?("1.0") }
  end

  # @return [Integer, nil] the code
  def end_of(client)
    client.receive
    client.close_code
  rescue WebSocketClient::Error, SystemCallError
    nil
  end

  def ask_for_events(client, target)
    client.write("GET #{target} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
  end

  def listen(client, target)
    ask_for_events(client, target)
    nil until client.socket.gets == "\r\n"
  end

  # @return [Enumerator::Lazy<String>] of the chunks, as long as more come
  def lines_of(client)
    chunks = Enumerator.produce { read_chunk(client.socket) || raise(StopIteration) }
    chunks.lazy.flat_map(&:lines)
  end

  def read_chunk(socket)
    size = Timeout.timeout(RawClient::READ_MAX) { socket.readline }.to_i(16)
    socket.read(size + 2).delete_suffix("\r\n") unless size.zero?
  end

  # One client's end is nothing to another.
  def check_errors(server)
    join(server, "staying") do |staying|
      join(server, "failing") do |client|
        assert_nil ask(client, "raise on purpose")
        assert_equal 1011, client.close_code
      end
      server.await(/Error during GET \/: .*on purpose/)
      server.await(/failing: close false -1 false/)
      assert_equal "still", ask(staying, "still")
    end
  end

  def check_events(server)
    RawClient.open(server.port) do |client|
      ask_for_events(client, "/events?events")
      text = client.response.body.delete_prefix(":\n\n").force_encoding("UTF-8") # the comment with which the head may leave
      assert_equal "data: one\ndata: two\n\nid: 7\nretry: 10\n\nevent: e\nid: \ndata: ä\n\n", text
    end
    server.await(/events: close false -1 false/)
    assert_includes told(server, "events"), "ArgumentError ArgumentError ArgumentError"
  end
end
