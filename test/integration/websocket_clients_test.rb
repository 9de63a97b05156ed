# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client_checks"

# Clients that stay after their request, by WebSocket, as the application has them.
class WebSocketClientsTest < Minitest::Test
  include WebSocketClientChecks

  CLIENT_BYTES_MAX = 200_000
  PIECES = 150
  CHECKS = %i[echo answers ways versions order errors ends other_ends other_threads drained settings collected events protocols].freeze

  def test_all_that_a_client_can_do
    each_backend_and_mode do |backend, mode|
      serve("--backend", backend, "--mode", mode) do |server|
        CHECKS.each { |name| send(:"check_#{name}", server) }
        assert_predicate server.stop, :success?, "#{backend}, #{mode}"
      end
    end
  end

  def test_by_tls_with_a_worker
    serve("-w", "1", "--preload", *Certificates.options) do |server|
      join(server, "a", tls: {}) { |client| TEXTS.each { |text| assert_equal text, ask(client, text) } }
      server.await(/a: close/)
    end
  end

  # More than the sockets have room for, so that the server still sends when it learns of the end.
  def test_a_client_that_closes_its_side_gets_what_was_written_before
    BACKENDS.product([false, true]) do |backend, tls|
      serve("--backend", backend, "--client-bytes-max", "64000000", *(Certificates.options if tls)) do |server|
        [false, true].each { |says_so| assert_equal [PIECES, true], pieces_after_half_close(server, tls, says_so), "#{backend}, TLS: #{tls}" }
      end
    end
  end

  # Its bytes may look like the request before them.
  def test_a_message_beside_a_public_folder_asks_for_no_file
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.txt", "a file")
      MODES.each do |mode|
        serve("--mode", mode, "--public", folder) do |server|
          join(server, "a", "/cable") do |client|
            assert_equal ["GET /a.txt", "GET /nothing"], [ask(client, "GET /a.txt"), ask(client, "GET /nothing")], mode
          end
          assert_equal "a file", RawClient.get(server.port, "/a.txt").body
        end
      end
    end
  end

  def test_a_server_that_ends_lets_its_clients_go
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        join(server, "a") do |one|
          join(server, "b") do |other|
            server.signal("TERM")
            [one, other].each { |client| assert_equal ["going", nil, 1001], [client.receive, client.receive, client.close_code], mode }
          end
        end
        assert_predicate server.await_end, :success?, mode
        %w[a b].each { |name| assert_equal ["open", "shutdown", "close false -1 false"], told(server, name), mode }
      end
    end
  end

  # The second signal gives no time.
  def test_a_server_that_is_ended_at_once
    %w[fibers threads:2].each do |mode|
      serve("--mode", mode) do |server|
        join(server, "kept") do |client|
          assert_equal "x", ask(client, "collect x")
          server.signal("INT")
          server.await(/SIGINT/)
          server.force("INT")
          refute_nil server.await_end
        end
      end
    end
  end

  def test_who_does_not_read_is_closed
    MODES.each do |mode|
      serve("--mode", mode, "--client-bytes-max", CLIENT_BYTES_MAX.to_s) do |server|
        join(server, "a") do |client|
          client.send_text("flood")
          pieces = 0
          pieces += 1 while client.receive
          assert_operator pieces, :>, CLIENT_BYTES_MAX / 65_536, mode
          assert_equal 1008, client.close_code, mode
        end
        server.await(/a: close false -1 false/)
      end
    end
  end

  def test_limits
    serve("--message-bytes-max", "1000", "--client-timeout", "0.05") do |server|
      join(server, "a") do |client|
        assert_equal :ping, client.event.type
        client.pong
        assert_equal "0.05", ask(client, "about").split[-2]
        assert_equal "x" * 1000, ask(client, "x" * 1000)
        assert_equal [nil, 1009], [ask(client, "x" * 1001), client.close_code]
      end
      server.await(/a: close/)
    end
  end

  def test_a_callback_that_forks
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        join(server, "a") do |client|
          assert_equal "child: 0", ask(client, "fork"), mode
          assert_equal "still", ask(client, "still"), mode
        end
        assert_predicate server.stop, :success?, mode
        assert_equal ["open", "close false -1 false"], told(server, "a"), mode
      end
    end
  end

  def test_a_callback_that_ends_its_thread
    serve("--mode", "threads:2") do |server|
      3.times do |number|
        join(server, number.to_s) do |client|
          assert_nil ask(client, "kill")
          assert_equal 1011, client.close_code
        end
        server.await(/#{number}: close/)
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_while_every_allocation_collects
    %w[fibers threads:2].each do |mode|
      serve("--mode", mode) do |server|
        join(server, "kept") do |client|
          client.send_text("stress on")
          join(server, "b") { |other| assert_equal "äy", ask(other, "äy"), mode }
          assert_equal "z", ask(client, "thread z"), mode
          client.send_text("stress off")
          assert_equal "end", ask(client, "end"), mode
        end
        server.await(/kept: close/)
        assert_predicate server.stop, :success?, mode
      end
    end
  end

  def test_a_client_outlives_its_server
    %w[inline fibers threads:2].each do |mode|
      kept = kept_client(mode)
      GC.start
      assert_equal [false, -1, false, nil], [kept.write("x"), kept.pending, kept.open?, kept.close], mode
      kept.timeout = 1
      assert_equal "#<Upwell::Client websocket closed>", kept.inspect
      assert_raises(ArgumentError) { kept.timeout = -1 }
      assert_raises(ArgumentError) { kept.timeout = Float::NAN }
      assert_raises(ArgumentError) { kept.close(1005) }
      assert_raises(ArgumentError) { kept.close(-1) }
    end
  end

  private

  def serve(*arguments)
    ServerProcess.open("--drain-timeout", "6", *arguments, app: "websocket_clients.ru") { |server| yield server }
  end

  def check_order(server)
    join(server, "order") do |client|
      texts = Array.new(200, &:to_s)
      client.write(["slow first", *texts].map { |text| WebSocketFrame.write(:text, text) }.join)
      assert_equal(["first", *texts], Array.new(201) { client.receive })
    end
    server.await(/order: close/)
  end

  def check_errors(server)
    join(server, "other") do |other|
      join(server, "errors") do |client|
        client.send_text("raise bang")
        client.send_text("never heard")
        server.await(/Error during GET \/: .*bang \(RuntimeError\)/)
        assert_equal [nil, 1011], [client.receive, client.close_code]
      end
      server.await(/errors: close false -1 false/)
      assert_equal "x", ask(other, "x")
      assert_equal [nil, 1011], [ask(other, "wait 0.01"), other.close_code]
      server.await(/Timeout::Error/)
    end
    server.await(/other: close/)
  end

  def check_other_ends(server)
    join(server, "ends") do |client|
      assert_equal [nil, 4002, "now"], [ask(client, "close-from-thread now"), client.close_code, client.close_reason]
    end
    server.await(/ends: close false -1 false/)
  end

  def check_other_threads(server)
    join(server, "kept-one") do |one|
      join(server, "kept-two") do |two|
        assert_equal "x", ask(one, "thread x")
        one.send_text("others y")
        assert_equal %w[y y], [one.receive, two.receive]
      end
      server.await(/kept-two: close/)
      one.send_text("others z")
      assert_equal "z", one.receive
    end
    server.await(/kept-one: close/)
  end

  # @param says_so [Boolean] whether it sends a close frame before
  # @return [Array(Integer, Boolean)] how many messages come, and whether the end of the stream comes then, rather than a reset
  def pieces_after_half_close(server, tls, says_so)
    join(server, "half", tls: tls) do |client|
      client.write(WebSocketFrame.write(:text, "bulk #{PIECES}") + WebSocketFrame.write(:text, "specks 0"))
      server.await(/half: specks/)
      client.send_close if says_so
      client.to_io.shutdown(Socket::SHUT_WR)
      count = 0
      count += 1 while (event = client.event)&.type == :binary
      [count, event.nil? || client.ended?]
    end
  end

  # Of most clients the application keeps nothing.
  def check_collected(server)
    40.times { join(server, "passing", &:close) and server.await(/passing: close/) }
    join(server, "collected") do |client|
      2.times { |number| assert_equal "x#{number}", ask(client, "collect x#{number}") }
      assert_equal "y", ask(client, "compact y") if GC.respond_to?(:compact)
      assert_equal "z", ask(client, "z")
      assert_includes 1..30, Integer(ask(client, "count")) # the collector takes some that are gone for references yet
    end
    server.await(/collected: close/)
  end

  def check_events(server)
    head, body = RawClient.open(server.port) do |client|
      client.write("GET /events?events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      client.read_all.split("\r\n\r\n", 2)
    end
    assert_match(/\AHTTP\/1.1 200 .*^x-a: b\r$.*^content-type: text\/event-stream\r$/mi, head)
    refute_match(/text\/html|^content-length|^transfer-encoding/i, head)
    assert_equal "data: one\ndata: two\n\nid: 7\nretry: 10\n\nevent: e\nid: \ndata: ä\n\n", body.force_encoding("UTF-8")
    server.await(/events: close false -1 false/)
    assert_includes told(server, "events"), "ArgumentError ArgumentError ArgumentError"
  end

  # Which the application speaks itself.
  def check_protocols(server)
    { "" => "nil", "Connection: upgrade\r\nUpgrade: chat/2 ,x,, y\r\nUpgrade: z\r\n" => %w[chat/2 x y z].inspect }.each do |fields, protocols|
      assert_equal protocols, RawClient.request(server.port, "GET /protocols HTTP/1.1\r\nHost: a\r\n#{fields}\r\n").body
    end
    { "chat/2" => 101, "chat" => 200 }.each do |protocol, status|
      response, rest = RawClient.open(server.port) do |client|
        client.write("GET /switched HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: #{protocol}\r\n\r\n")
        [client.response, status == 101 ? client.read_all : nil]
      end
      assert_equal [status, ["c=d"], "hi"], [response.status, response.headers["set-cookie"], rest || response.body]
      assert_equal [["chat/2"], ["upgrade"]], response.headers.values_at("upgrade", "connection") if status == 101
    end
  end

  # One of a server in this process, which has ended.
  def kept_client(mode)
    opened = Queue.new
    handler = Object.new
    handler.define_singleton_method(:on_open) { |client| opened << client }
    server = Upwell::Server.new(lambda { |env|
      env["rack.upgrade"] = handler
      [101, {}, []]
    }, Upwell::Configuration.new({ bind: "127.0.0.1", port: 0, mode: mode }, environment: {}))
    thread = Thread.new { server.run }
    WebSocketClient.open(Integer(server.urls.first[/\d+\z/])) { opened.pop }
  ensure
    server&.stop
    thread&.join
  end
end
