# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/server_process"

# The processes of a server meet in a folder of their own.
class BusTest < Minitest::Test
  PATIENCE = 60 # seconds: workers are replaced one after another

  def await(what)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until yield
      flunk "#{what} has not come" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.01
    end
  end

  def serve(*arguments)
    Dir.mktmpdir(nil, "/tmp") do |base| # short, as the addresses of sockets are
      ServerProcess.open(*arguments, environment: { "XDG_RUNTIME_DIR" => base }) { |server| yield server, base }
    end
  end

  def sockets(base)
    Dir.glob("upwell-bus-*/*.bus", base: base)
  end

  def check_end(server, base)
    assert_equal 0, server.stop.exitstatus
    assert_empty Dir.children(base)
  end

  def test_each_worker_is_there_and_its_successor_and_none_in_the_end
    serve("-w", "2") do |server, base|
      await("a socket of each worker") { sockets(base).size == 2 }
      before = sockets(base)
      server.signal("USR1")
      await("a socket of each successor") { sockets(base).size == 2 && !sockets(base).intersect?(before) }
      assert_equal 1, Dir.children(base).size # the folder stays the same
      check_end(server, base)
    end
  end

  def test_what_a_killed_worker_has_left_is_removed
    serve("-w", "2") do |server, base|
      await("a socket of each worker") { sockets(base).size == 2 }
      dead = sockets(base).first
      Process.kill("KILL", File.basename(dead).to_i)
      await("a socket of its successor alone") { sockets(base).size == 2 && !sockets(base).include?(dead) }
      check_end(server, base)
    end
  end

  def test_the_last_worker_of_a_killed_supervisor_removes_the_folder
    MODES.each do |mode|
      serve("-w", "2", "--mode", mode) do |server, base|
        await("a socket of each worker") { sockets(base).size == 2 }
        server.kill
        await("the end of the folder; there are #{Dir.children(base)}") { Dir.empty?(base) }
      end
    end
  end

  # Other servers meet there.
  def test_workers_of_a_killed_supervisor_leave_a_folder_that_was_named
    Dir.mktmpdir(nil, "/tmp") do |folder|
      ServerProcess.open("-w", "2", "--pubsub", folder) do |server|
        await("a socket of each worker") { Dir.children(folder).size == 2 }
        server.kill
        await("the end of the workers") { Dir.empty?(folder) }
      end
      assert_path_exists folder
    end
  end

  def test_a_server_without_workers_has_one_too
    MODES.each do |mode|
      serve("--mode", mode) do |server, base|
        await("a socket") { sockets(base).size == 1 }
        check_end(server, base)
      end
    end
  end
end
