# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_process"
require_relative "../support/opal_runtimes"
require_relative "../support/websocket_client"

# The chat rooms of the examples, which remember in files what was said: on each runtime as on MRI. In a cluster, workers would have to wait
# for each other by File#flock, which JavaScript has not.
class OpalChatRoomsTest < Minitest::Test
  include OpalRuntimes

  APP = File.join(ServerProcess::ROOT, "examples", "chat_rooms", "config.ru")

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_what_was_said_is_remembered_on_#{command}") do
      need(command)
      Dir.mktmpdir do |folder|
        2.times { |round| serve(command, folder) { |server| send(:"check_round#{round}", server) } }
      end
    end
  end

  private

  def serve(command, folder, &block)
    OpalProcess.open(command, "--drain-timeout", "30", app: APP, environment: { "TMPDIR" => folder }) do |server|
      block.call(server)
      assert_predicate server.stop, :success?, server.lines.join
    end
  end

  def check_round0(server)
    assert_includes RawClient.get(server.port, "/").body, "<html"
    enter(server, "Ann") do |ann|
      assert_equal ["welcome", []], await(ann, "welcome").values_at("type", "messages")
      enter(server, "B%C3%B6b") do |other|
        assert_equal ["Ann", "B\u00F6b"], await(ann, "here") { |event| event["names"].size == 2 }["names"]
        other.send_text(JSON.generate(id: "1", text: "h\u00E4llo"))
        [ann, other].each { |guest| assert_equal ["B\u00F6b", "h\u00E4llo"], await(guest, "message").values_at("name", "text") }
        other.send_text("not a message")
        assert_equal [nil, 1007], [other.receive, other.close_code]
      end
      assert_equal %w[Ann], await(ann, "here")["names"]
    end
  end

  # By another process.
  def check_round1(server)
    enter(server, "Eve") do |eve|
      welcome = await(eve, "welcome")
      assert_equal [["lobby"], ["h\u00E4llo"]], [welcome["rooms"], welcome["messages"].map { |message| message["text"] }]
    end
  end

  def enter(server, name, &block)
    WebSocketClient.open(server.port, "/?room=lobby&name=#{name}", &block)
  end

  # The next event of that type for which the block holds.
  def await(guest, type)
    loop do
      event = JSON.parse(guest.receive)
      return event if event["type"] == type && (!block_given? || yield(event))
    end
  end
end
