# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_client"
require_relative "support/readme_results_table"

# The example whose callbacks belong to a module: echo, publish and the end of the server are the same under every command.
class OpalWebSocketEchoTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(ServerProcess::ROOT, "examples", "websocket_echo", "config.ru")
  CLIENTS = 4 # so that a cluster's workers have some each

  OpalProcess.commands.each do |command|
    define_method(:"test_an_echo_by_#{command}") do
      need(command)
      ReadmeResultsTable.note("websocket_echo", command) { check(command) }
    end
  end

  private

  def check(command)
    OpalProcess.open(command, app: APP) do |server|
      assert_includes RawClient.get(server.port, "/").body, "new WebSocket("
      clients = Array.new(CLIENTS) { WebSocketClient.new(server.port) }
      check_messages(server, *clients)
      check_end(server, clients.drop(1))
    ensure
      clients&.each(&:close_socket)
    end
  end

  def check_messages(server, sender, *others)
    CLIENTS.times { server.await(/a client has connected/) }
    sender.send_text("one")
    assert_equal ["one", "somebody has sent: one"], [sender.receive, sender.receive].sort
    assert_equal ["somebody has sent: one"], others.map(&:receive).uniq
    server.await(/a client has taken everything; 0 bytes wait/)
    sender.close
    sender.close_socket
    server.await(/a client has disconnected/)
  end

  def check_end(server, clients)
    server.signal("TERM")
    assert_equal ["the server stops"], clients.map(&:receive).uniq
    clients.each(&:close)
    assert_equal 0, server.await_end.exitstatus, server.lines.join
  end
end
