# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/server_process"
require_relative "../support/tls_client"
require_relative "../support/websocket_client"

# The answer to a client that stays leaves when `on_open` has been served: what is published from then on is for that client.
class UpgradeOnOpenTest < Minitest::Test
  OPENINGS = %w[sleeping computing plain].freeze
  HELD_MAX = 2 # seconds: UW_CORK_NS
  EVENT_STREAM = "GET /?%s HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\r\n"

  MODES.each do |mode|
    define_method(:"test_what_is_published_after_the_answer_is_heard_in_mode_#{mode}") do
      serve("--mode", mode, "-w", "2") { |server| with_publishers(server, 2) { |publishers| check_heard(server, publishers) } }
    end

    define_method(:"test_without_workers_and_how_an_opening_may_end_in_mode_#{mode}") do
      serve("--mode", mode) do |server|
        with_publishers(server, 1) { |publishers| check_heard(server, publishers) }
        check_what_comes_ahead(server)
        check_failing(server)
        check_closing(server)
        check_vanishing(server)
      end
    end
  end

  # Others are served meanwhile.
  def test_an_opening_that_does_not_end_holds_the_answer_for_a_while
    %w[fibers threads:3].each do |mode|
      serve("--mode", mode) do |server|
        assert_operator time_of_answer(server, "endless"), :>=, HELD_MAX * 0.9, mode
        assert_operator time_of_answer(server, "filling"), :<, HELD_MAX * 0.9, mode
      end
    end
  end

  def test_by_tls
    serve("--mode", "threads:3", *Certificates.options) do |server|
      WebSocketClient.open(server.port, "/?sleeping", tls: true) do |client|
        TLSClient.open(server.port) { |publisher| publish(publisher, "news") }
        assert_equal "news", client.receive
      end
    end
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def serve(*arguments)
    ServerProcess.open(*arguments, app: "upgrade_on_open.ru") { |server| yield server }
  end

  # Yields kept connections, one to each worker.
  def with_publishers(server, count)
    publishers = {}
    Timeout.timeout(RawClient::READ_MAX) do
      until publishers.size == count
        client = RawClient.new(server.port)
        publishers[publish(client, "nobody")] ||= client
      end
    end
    yield publishers.values
  ensure
    publishers.each_value(&:close)
  end

  def publish(client, text)
    client.write("GET /publish?#{text} HTTP/1.1\r\nHost: test\r\n\r\n")
    client.response.body
  end

  def check_heard(server, publishers)
    expected = publishers.each_index.map { |index| "news#{index}" }
    OPENINGS.each do |opening|
      WebSocketClient.open(server.port, "/?#{opening}") do |client|
        publish_all(publishers)
        assert_equal expected, publishers.map { client.receive }.sort, opening
      end
      with_event_stream(server, opening) do |stream|
        publish_all(publishers)
        assert_equal expected, publishers.map { next_data(stream) }.sort, opening
      end
    end
  end

  def publish_all(publishers)
    publishers.each_with_index { |publisher, index| publish(publisher, "news#{index}") }
  end

  def time_of_answer(server, opening)
    start = now
    WebSocketClient.open(server.port, "/?#{opening}") { now - start }
  end

  def with_event_stream(server, opening)
    RawClient.open(server.port) do |client|
      client.write(format(EVENT_STREAM, opening))
      Timeout.timeout(RawClient::READ_MAX) { nil until client.socket.readline == "\r\n" }
      yield client.socket
    end
  end

  def next_data(socket)
    Timeout.timeout(RawClient::READ_MAX) { socket.readline[/\Adata: (.*)\n/, 1] || next_data(socket) }
  end

  # In order, and after `on_open`.
  def check_what_comes_ahead(server)
    %w[sleeping computing].each do |opening|
      frames = %w[a b].map { |text| WebSocketFrame.write(:text, text) }
      WebSocketClient.open(server.port, "/?#{opening}", ahead: frames.join) do |client|
        client.send_text("c")
        assert_equal ["open a", "open b", "open c"], Array.new(3) { client.receive }, opening
      end
      server.await(/#{opening} closed/)
    end
  end

  def check_failing(server)
    WebSocketClient.open(server.port, "/?raising") { |client| assert_equal [nil, 1011], [client.receive, client.close_code] }
    server.await(/in on_open/)
    with_event_stream(server, "raising") { |stream| assert_nil stream.gets }
    server.await(/raising closed/)
  end

  def check_closing(server)
    WebSocketClient.open(server.port, "/?closing") { |client| assert_equal [nil, 4000], [client.receive, client.close_code] }
    with_event_stream(server, "closing") { |stream| assert_nil stream.gets }
    2.times { server.await(/closing closed/) }
  end

  def check_vanishing(server)
    RawClient.open(server.port) { |client| client.write(format(EVENT_STREAM, "vanished")) }
    server.await(/vanished closed/)
    WebSocketClient.open(server.port, "/?plain", &:close)
    server.await(/plain closed/)
  end
end
