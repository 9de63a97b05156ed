# frozen_string_literal: true

require_relative "raw_client"
require_relative "websocket_client"

# What clients of iodine_draft_examples.ru see, wherever that is served.
module IodineDraftExampleChecks
  NAMES = %w[Ann Ben Cyd Dan Eve Fay].freeze # so many that each of two workers has some
  WAIT_MAX = 30 # seconds

  def check_examples(server)
    check_echo(server)
    check_broadcast(server)
    check_protocols(server)
    check_chat(server)
  end

  def check_echo(server)
    assert_equal "Hello", RawClient.get(server.port, "/echo").body
    WebSocketClient.open(server.port, "/echo") do |client|
      client.send_text("häy")
      assert_equal ["Welcome, true.", "häy"], [client.receive, client.receive]
      assert_equal 1000, client.close
    end
    server.await(%r{^/echo is closed})
  end

  def check_broadcast(server)
    WebSocketClient.open(server.port, "/broadcast") do |one|
      await_own(one, "1")
      WebSocketClient.open(server.port, "/broadcast") do |other|
        await_own(other, "2")
        assert_equal "2", one.receive
        other.send_text("bytes")
        [one, other].each { |client| assert_equal "bytes".b, client.receive }
      end
    end
  end

  # It has subscribed before it has its message read.
  def await_own(client, text)
    client.send_text(text)
    assert_equal text, client.receive
  end

  def check_protocols(server)
    { "talk, echo" => "echo", "chat" => "chat" }.each do |asked, protocol|
      WebSocketClient.open(server.port, "/protocols", protocols: asked) { |client| assert_equal protocol, client.protocol }
    end
    error = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, "/protocols", protocols: "talk") }
    assert_equal 400, error.response.status
  end

  # Until the server ends.
  def check_chat(server)
    present = []
    NAMES.each { |name| enter(server, name, present) }
    RawClient.listen(server.port, "/chat/Gus") do |stream|
      all_hear(present, "Gus joined the chat.")
      leave(present, "Ben")
      present.first.send_text("häy")
      all_hear(present, "Ann: häy")
      ["Gus joined the chat.", "Ben left the chat.", "Ann: häy"].each { |text| assert_equal text, heard { read_data(stream) } }
    end
    all_hear(present, "Gus left the chat.")
    server.signal("TERM")
    present.each { |client| assert_equal ["The server is going away. Goodbye.", 1001], end_of(client) }
    assert_predicate server.await_end, :success?, server.lines.join
  ensure
    present&.each(&:close_socket)
  end

  def enter(server, name, present)
    present << WebSocketClient.new(server.port, "/chat/#{name}")
    all_hear(present, "#{name} joined the chat.")
  end

  def leave(present, name)
    present.delete_at(NAMES.index(name)).close
    all_hear(present, "#{name} left the chat.")
  end

  def all_hear(clients, text)
    clients.each { |client| assert_equal text, heard { client.receive } }
  end

  # The client of check_protocols may leave only now.
  def heard
    text = yield
    text == "Someone left the chat." ? yield : text
  end

  # @return [Array(String, Integer)] what the server says, and its code; others may leave before
  def end_of(client)
    words = []
    while (text = client.receive)
      words << text unless text.end_with?("left the chat.")
    end
    [*words, client.close_code]
  end

  def read_data(stream)
    Timeout.timeout(WAIT_MAX) do
      nil until (data = (stream.socket.gets || flunk("the stream has ended"))[/\Adata: (.*)\n/, 1])
      data.force_encoding(Encoding::UTF_8)
    end
  end
end
