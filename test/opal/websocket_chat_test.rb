# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_process"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_client"
require_relative "support/readme_results_table"

# The chat of the examples is the same under every command.
class OpalWebSocketChatTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(ServerProcess::ROOT, "examples", "websocket_chat", "config.ru")
  GUESTS = 4 # so that a cluster's workers have some each

  OpalProcess.commands.each do |command|
    define_method(:"test_a_chat_by_#{command}") do
      need(command)
      ReadmeResultsTable.note("websocket_chat", command) { check(command) }
    end
  end

  private

  def check(command)
    OpalProcess.open(command, app: APP) do |server|
      assert_includes RawClient.get(server.port, "/").body, "new WebSocket("
      check_foreign(server)
      check_chat(server)
    end
  end

  def check_foreign(server)
    refused = assert_raises(WebSocketClient::Refused) { WebSocketClient.new(server.port, headers: { "Origin" => "https://else.where" }) }
    assert_equal 403, refused.response.status
  end

  # Everybody hears what each says, in the order in which it was said, and who comes and goes.
  def check_chat(server)
    guests = Array.new(GUESTS) { |number| arrive(server, "Jürgen #{number}") }
    listener = listen(server)
    guests.each_with_index do |guest, number|
      %w[one twö].each { |text| guest.send_text(text) }
      said = ["Jürgen #{number}: one", "Jürgen #{number}: twö"]
      guests.each { |hearer| assert_equal said, hear(hearer, said) }
      said.each { |line| await_line(listener, line) }
    end
    guests.pop.close
    guests.each { |hearer| assert_equal ["Jürgen 3: has left"], hear(hearer, ["Jürgen 3: has left"]) }
  ensure
    [*guests, listener].compact.each { |client| client.respond_to?(:close_socket) ? client.close_socket : client.close }
  end

  # Once the guest hears itself.
  def arrive(server, name)
    WebSocketClient.new(server.port, "/?#{URI.encode_www_form_component(name)}").tap { |guest| hear(guest, ["#{name}: is here"]) }
  end

  # What comes, from the first of these lines on.
  def hear(guest, lines)
    heard = []
    heard = (heard << parsed(guest.receive)).drop_while { |line| line != lines.first } until heard.size == lines.size
    heard
  end

  def await_line(listener, line)
    heard = []
    Timeout.timeout(RawClient::READ_MAX) { heard << listener.socket.readline until parsed(heard.last.to_s[/\Adata: (.*)/, 1]) == line }
  rescue Timeout::Error, EOFError => e
    flunk("the listener waits for #{line.inspect}, has heard #{heard} (#{e.class})")
  end

  def parsed(message)
    message && JSON.parse(message).values_at("from", "text").join(": ")
  end

  # Once its answer has begun.
  def listen(server)
    RawClient.new(server.port).tap do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      nil until client.socket.gets == "\r\n"
    end
  end
end
