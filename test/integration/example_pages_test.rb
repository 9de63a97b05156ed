# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_client"

# The examples that have a page: two workers serve it, and what it does is done here without a browser.
class ExamplePagesTest < Minitest::Test
  EXAMPLES = File.join(ServerProcess::ROOT, "examples")
  LINES = 20
  WAIT_MAX = 180 # seconds for a test, which starts a server with two workers

  def capture_exceptions
    super { Timeout.timeout(WAIT_MAX) { yield } }
  end

  def test_chat_rooms
    with_example("chat_rooms") do |port|
      WebSocketClient.open(port, "/?room=tea&name=Ada") do |ada|
        assert_equal ["welcome", []], next_event(ada).values_at("type", "messages")
        2.times { ada.send_text(JSON.generate(id: "1", text: "hello")) } # as a page does that has not heard of it
        message = next_event(ada, "message")
        assert_equal %w[Ada hello], message.values_at("name", "text")

        WebSocketClient.open(port, "/?room=tea&name=Grace") do |grace|
          assert_equal [message["number"]], next_event(grace, "welcome")["messages"].map { |old| old["number"] }
          await_names(grace, %w[Ada Grace])
          grace.send_text(JSON.generate(id: "2", text: "ä" * 100))
          assert_equal ["Grace", "ä" * 100], next_event(ada, "message").values_at("name", "text")
        end
        await_names(ada, %w[Ada])
        ada.send_text("no message")
        assert_nil next_event(ada)
      end
      assert_raises(WebSocketClient::Refused) { WebSocketClient.new(port, "/?room=../tea&name=Ada") }
      check_origins(port, "/?room=tea&name=Ada")
    end
  end

  def test_live_log
    with_example("live_log") do |port|
      lines = follow(port) do |events|
        LINES.times { |number| RawClient.get(port, "/line-#{number}.") }
        lines_up_to(events, "/line-#{LINES - 1}.")
      end
      numbers = lines.filter_map { |line, _place| line[/line-(\d+)\.$/, 1]&.to_i }
      assert_equal [*0...LINES], numbers

      RawClient.get(port, "/meanwhile")
      missed = follow(port, "Last-Event-ID: #{lines[-3].last}\r\n") { |events| lines_up_to(events, "/meanwhile") }
      assert_equal lines.last(2), missed.first(2)
      assert_match(/ 404 GET \/meanwhile$/, missed.last.first)

      follow(port) { |events| RawClient.request(port, "POST /cut HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n") && events.read_all }
    end
  end

  def test_drawing
    stroke = [10, 8, 3, 100, 200, 5, -5].pack("nCCnncc")
    with_example("drawing") do |port|
      WebSocketClient.open(port) do |first|
        WebSocketClient.open(port) do |second|
          [first, second].each { |client| assert_equal "\0\0\0\0".b, picture(client) }
          second.send_binary(stroke)
          [first, second].each { |client| assert_equal "\0\0\0\0".b + stroke, client.receive }
          WebSocketClient.open(port) { |late| assert_equal "\0\0\0\0".b + stroke, picture(late) }
          first.send_binary("\0\2")
          assert_equal "\0\0\0\1".b, second.receive
          second.send_binary("#{stroke}x")
          assert_nil second.receive
          assert_equal 1007, second.close_code
        end
      end
      check_origins(port, "/")
    end
  end

  def test_a_folder_that_others_have_a_part_in
    require "#{EXAMPLES}/private_folder"
    Dir.mktmpdir do |base|
      folder = PrivateFolder.make(File.join(base, "own"))
      assert_equal folder, PrivateFolder.make(folder)
      File.symlink(folder, link = File.join(base, "link"))
      Dir.mkdir(open = File.join(base, "open")) && File.chmod(0o755, open)
      [link, open].each { |path| assert_match(/#{path} must be a folder, this user's own/, assert_raises { PrivateFolder.make(path) }.message) }
    end
  end

  private

  def check_origins(port, path)
    WebSocketClient.open(port, path, headers: { "Host" => "here.test", "Origin" => "http://here.test" }) { |own| assert own.receive }
    foreign = { "Host" => "here.test", "Origin" => "http://there.test" }
    refused = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(port, path, headers: foreign) }
    assert_equal 403, refused.response.status
  end

  def with_example(name)
    Dir.mktmpdir do |folder|
      app = File.join(EXAMPLES, name, "config.ru")
      ServerProcess.open("-w", "2", app: app, environment: { "TMPDIR" => folder }) do |server|
        page = RawClient.get(server.port, "/")
        assert_equal [200, File.binread(File.join(EXAMPLES, name, "index.html"))], [page.status, page.body.b]
        yield server.port
        assert_predicate server.stop, :success?
      end
    end
  end

  # @return [Hash, nil] nil: the server has closed
  def next_event(client, type = nil)
    while (data = client.receive)
      event = JSON.parse(data)
      return event if type.nil? || event["type"] == type
    end
  end

  # What was published before may come meanwhile, from the other worker.
  def await_names(client, names)
    nil until next_event(client, "here").fetch("names") == names
  end

  # @return [String] of a board: what comes after the worker's number
  def picture(client)
    assert_match(/\A\d+\z/, client.receive)
    client.receive
  end

  def follow(port, fields = "")
    RawClient.open(port) do |client|
      client.write("GET /events HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n#{fields}\r\n")
      client.socket.gets("\r\n\r\n") # the head
      client.socket.gets("\n\n") # the first event: the subscription is there
      yield client
    end
  end

  # @return [Array<Array(String, Integer)>] each line with the place after it
  def lines_up_to(events, ending)
    lines = []
    while (event = events.socket.gets("\n\n")&.scrub)
      lines << [event[/^data: (.*)$/, 1], event[/^id: (\d+)$/, 1].to_i] if event.match?(/^data: /)
      return lines if lines.last&.first&.end_with?(ending)
    end
  end
end
