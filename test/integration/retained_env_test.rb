# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client"

# What of many clients that stay is kept once: their env is what it was, and none of them is lost.
class RetainedEnvTest < Minitest::Test
  ORIGIN = "http://a.example"
  SHARED = %w[HTTP_CONNECTION HTTP_HOST HTTP_ORIGIN HTTP_SEC_WEBSOCKET_VERSION HTTP_UPGRADE PATH_INFO REQUEST_URI].freeze
  ENDED = %w[rack.early_hints rack.hijack].freeze # which are not equal to what they were
  UNTOUCHED = %w[/default /iterated /changed /extended /own].freeze
  CLIENTS = 24

  def test_it_is_what_it_was
    each_mode do |server|
      join(server) do |client|
        assert_equal [true, true, ENDED].inspect, ask(client, "same")
        assert_equal SHARED.inspect, ask(client, "shared")
      end
      UNTOUCHED.each { |path| join(server, path) { |client| assert_match(/\A\[true, true, /, ask(client, "same"), path) } }
      join(server, "/frozen") { |client| assert_equal "[true, true, []]", ask(client, "same") }
    end
  end

  def test_what_the_application_has_put_there_remains
    each_mode do |server|
      { "/own" => [%w[HTTP_ORIGIN rack.errors rack.hijack], ["the application's", nil]],
        "/extended" => [%w[HTTP_ORIGIN], [ORIGIN, ["the application's"]]],
        "/changed" => [%w[HTTP_ORIGIN], ["#{ORIGIN}/", nil]] }.each do |path, remains|
        join(server, path) { |client| assert_equal remains.map(&:inspect), [ask(client, "own"), ask(client, "origin")], path }
      end
    end
  end

  def test_what_is_over_says_so
    each_mode do |server|
      join(server) { |client| assert_equal 2, ask(client, "ended").scan("was called after the end of its request").size }
    end
  end

  def test_its_log_is_the_stream
    each_mode do |server|
      join(server) do |client|
        assert_equal "[true, true, 2, true]", ask(client, "log")
        ["one line", "another line"].each { |line| server.await(/^#{line}$/) }
        client.send_text("fail")
        server.await(/Error during GET \/.*on purpose/)
      end
    end
  end

  def test_clients_that_come_and_go_between_collections
    each_mode do |server|
      clients = join_some(server)
      collect(clients)
      stay, go = clients.shuffle.each_slice(CLIENTS / 2).to_a
      go.each(&:close)
      stay += join_some(server)
      collect(stay.shuffle)
      stay.each(&:close_socket)
    end
  end

  # Who is old, and no longer followed by somebody old.
  def test_a_client_that_came_after_one_that_has_gone
    each_mode do |server|
      clients = [connect(server), connect(server)]
      4.times do
        ask(clients.first, "age")
        clients << connect(server)
        leave(server, clients.delete_at(-2))
        ask(clients.first, "collect_young")
        assert_match(/\A\[true, true, /, ask(clients.last, "same"))
      end
      clients.each(&:close_socket)
    end
  end

  def test_a_handshake_while_every_allocation_collects
    each_mode do |server|
      join(server) do |client|
        ask(client, "stress")
        join(server, "/changed") { |other| assert_equal ["#{ORIGIN}/", nil].inspect, ask(other, "origin") }
        ask(client, "stress")
      end
    end
  end

  private

  def each_mode
    MODES.each do |mode|
      ServerProcess.open("--mode", mode, app: "retained_env.ru") do |server|
        yield server
        assert_predicate server.stop, :success?, mode
      end
    end
  end

  def connect(server, path = "/")
    WebSocketClient.new(server.port, path, headers: { "Origin" => ORIGIN }).tap { |client| assert_equal "open", client.receive, path }
  end

  def join(server, path = "/")
    client = connect(server, path)
    yield client
  ensure
    client&.close_socket
  end

  def leave(server, client)
    client.close
    client.close_socket
    server.await(/^closed$/)
  end

  def join_some(server)
    Array.new(CLIENTS) { connect(server) }
  end

  # Those that are told first have others behind them.
  def collect(clients)
    ask(clients.first, "collect_young")
    ask(clients.last, "collect")
    clients.each { |client| assert_match(/\A\[true, true, /, ask(client, "same")) }
  end

  def ask(client, text)
    client.send_text(text)
    client.receive
  end
end
