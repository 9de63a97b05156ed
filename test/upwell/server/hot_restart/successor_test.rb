# frozen_string_literal: true

require_relative "../../../test_helper"
require "upwell/server/hot_restart/successor"

# The new server of a hot restart, as the running one sees it.
class SuccessorTest < Minitest::Test
  # Stands for the command of a server.
  class Command
    attr_reader :pid

    def spawn(*)
      @pid = Process.spawn("sleep 1000")
    end
  end

  def test_without_a_thread_that_watches_it_ends
    command = Command.new
    no_thread = ->(_) { raise ThreadError, "can't create Thread: Resource temporarily unavailable" }
    Process.stub(:detach, no_thread) do
      assert_raises(ThreadError) { Upwell::Server::HotRestart::Successor.new(command, [], 60) }
    end
    assert_raises(Errno::ESRCH) { Process.kill(0, command.pid) }
  end
end
