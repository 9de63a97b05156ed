# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_client"

# What fails while a client is to stay.
class OpalUpgradeTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/failing_upgrade.ru", __dir__)
  UPGRADES = ["Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Upgrade: h2c"].freeze
  ENDED = [WebSocketClient::Error, EOFError, SystemCallError].freeze

  # Bun has the key of the request itself.
  def failing(command)
    ways = { "/mute" => /mute on purpose/, "/key" => /during GET \/key: / }
    command == "up_bun" ? ways.slice("/mute") : ways
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_whoever_cannot_stay_is_let_go_on_#{command}") do
      need(command)
      OpalProcess.open(command, "--drain-timeout", "30", app: APP) do |server|
        failing(command).each do |path, told|
          error = assert_raises(*ENDED, path) { WebSocketClient.open(server.port, path) { nil } }
          refute_match(/does nothing/, error.message)
          server.await(told)
        end
        assert_predicate server.stop, :success?, "a client has stayed: #{server.lines.join}"
      end
    end

    define_method(:"test_who_does_not_wait_with_an_upgrade_disturbs_nobody_on_#{command}") do
      need(command)
      OpalProcess.open(command, app: APP) do |server|
        UPGRADES.each do |protocol|
          RawClient.open(server.port) do |client|
            client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n#{protocol}\r\n\r\n")
            assert_equal 200, client.response.status, protocol
            assert(client.response.nil? || command != "up_node", protocol)
          end
        end
        assert_equal 200, RawClient.get(server.port, "/").status
        assert_predicate server.stop, :success?, server.lines.join
      end
    end

    define_method(:"test_comments_that_config_ru_begins_with_count_on_#{command}") do
      need(command)
      OpalProcess.open(command, app: APP) do |server|
        line = File.readlines(APP).index { |text| text.include?("__LINE__") } + 1
        assert_equal "line #{line}, 42", RawClient.get(server.port, "/").body
        refute_match(/backtick/i, server.lines.join)
      end
    end
  end
end
