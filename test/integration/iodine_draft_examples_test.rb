# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/iodine_draft_example_checks"

# Applications of the shapes that Iodine's drafts and examples have, in every mode and with workers.
class IodineDraftExamplesTest < Minitest::Test
  include IodineDraftExampleChecks

  MODES.product([[], ["-w", "2"]]).each do |mode, workers|
    define_method(:"test_examples_in_mode_#{mode}#{"_with_workers" unless workers.empty?}") do
      ServerProcess.open("--mode", mode, "--drain-timeout", "4", *workers, app: "iodine_draft_examples.ru") { |server| check_examples(server) }
    end
  end

  # The engine of the application hands all on to the one that was the default.
  def test_an_engine_that_reports
    ServerProcess.open(app: "iodine_draft_examples.ru", environment: { "REPORT" => "1" }) do |server|
      WebSocketClient.open(server.port, "/chat/Ann") { |client| assert_equal "Ann joined the chat.", client.receive }
      ["published in chat: Ann joined th", "published in chat: Ann left the ", "unsubscribed from chat (exact match)"].each do |text|
        server.await(/^#{Regexp.escape(text)}/) unless server.lines.join.include?(text)
      end
      assert_includes server.lines.join, "subscribed to chat (exact match)"
    end
  end
end
