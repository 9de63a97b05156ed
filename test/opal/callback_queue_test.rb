# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_client"

# What a client says while its handler has not done with what it has said before.
class OpalCallbackQueueTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/waiting_callbacks.ru", __dir__)
  FEW = 2_000
  MANY = 40_000 # more empty ones than may wait
  POLICY = 1008

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_messages_wait_in_their_order_on_#{command}") do
      waiting(command) do |server, client|
        FEW.times { |number| client.send_text(number.to_s) }
        assert_equal "served", RawClient.get(server.port, "/settle").body
        assert_equal (0...FEW).map(&:to_s), Array.new(FEW) { client.receive }
      end
    end

    define_method(:"test_who_sends_too_many_empty_ones_is_closed_on_#{command}") do
      waiting(command) do |server, client|
        client.write(WebSocketFrame.write(:text, "") * MANY)
        assert_nil client.receive
        assert_equal POLICY, client.close_code
        assert_equal "served", RawClient.get(server.port, "/settle").body
        assert_predicate server.stop, :success?
      end
    end
  end

  private

  def waiting(command)
    need(command)
    OpalProcess.open(command, app: APP) do |server|
      WebSocketClient.open(server.port) do |client|
        client.send_text("wait")
        assert_equal "waits", client.receive
        yield server, client
      end
    end
  end
end
