# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/iodine_draft_checks"
require_relative "../support/opal_runtimes"

# Iodine's drafts, sentence by sentence, on each JavaScript runtime.
class OpalIodineDraftsTest < Minitest::Test
  include IodineDraftChecks
  include OpalRuntimes

  WITHOUT_THREADS = %i[turns].freeze

  # Whoever has the answer hears what is published from then on.
  def check_opened_before_answer(server)
    RawClient.listen(server.port, "/ok?busy-stream") do |client|
      nil until client.socket.readline == "\r\n"
      server.await(/^busy-stream first: on_open true/, 0)
    end
    WebSocketClient.open(server.port, "/ok?busy-socket") { server.await(/^busy-socket first: on_open true/, 0) }
  end

  OpalProcess::RUNTIMES.each_key do |command|
    define_method(:"test_each_sentence_on_#{command}") do
      need(command)
      OpalProcess.open(command, "--drain-timeout", "4", app: "iodine_drafts.ru") do |server|
        check_drafts(server, but: WITHOUT_THREADS)
        check_opened_before_answer(server)
        check_shutdown(server)
      end
    end
  end
end
