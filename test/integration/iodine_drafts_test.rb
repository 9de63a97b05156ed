# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/iodine_draft_checks"

# Iodine's drafts, sentence by sentence, in every mode.
class IodineDraftsTest < Minitest::Test
  include IodineDraftChecks

  MODES.each do |mode|
    define_method(:"test_each_sentence_in_mode_#{mode}") do
      serve("--mode", mode) do |server|
        check_drafts(server)
        check_changes_by_threads(server)
        check_rack_names(server)
        check_shutdown(server)
      end
    end
  end

  private

  def serve(*arguments)
    ServerProcess.open("--drain-timeout", "4", *arguments, app: "iodine_drafts.ru") { |server| yield server }
  end
end
