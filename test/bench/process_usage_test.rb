# frozen_string_literal: true

require "etc"
require "minitest/autorun"
require_relative "../../bench/lib/process_usage"

class ProcessUsageTest < Minitest::Test
  TICKS = Etc.sysconf(Etc::SC_CLK_TCK)

  def test_the_command_may_hold_spaces_and_parentheses
    line = "42 (a (b) c) S 1 42 42 0 -1 4194560 1 2 3 4 #{7 * TICKS} #{9 * TICKS} 5 6 20 0 1 0 100"
    assert_equal [7.0, 9.0, 4], Bench::ProcessUsage.parse_stat(line)
  end

  def test_memory_is_told_in_bytes
    assert_equal [2 * 1024, 3 * 1024], Bench::ProcessUsage.parse_status("Name:\tx\nVmHWM:\t     3 kB\nVmRSS:\t     2 kB\n")
  end

  def test_a_tree_holds_the_children_of_children
    script = 'pid = fork { fork { $stdout.syswrite("x"); sleep }; sleep }; Process.wait(pid)'
    reader, writer = IO.pipe
    pid = Process.spawn(RbConfig.ruby, "--disable-gems", "-e", script, out: writer, pgroup: true)
    reader.readpartial(1)
    alone = Bench::ProcessUsage.of_tree(Process.pid)
    tree = Bench::ProcessUsage.of_tree(pid)

    assert_operator tree.descriptors, :>=, 9 # standard input, output and error, three times
    assert_operator alone.resident, :>, tree.resident, "the tree of this process holds that one"
    assert_operator alone.peak, :>=, alone.resident
  ensure
    Process.kill("KILL", -pid)
    Process.wait(pid)
    [reader, writer].each(&:close)
  end

  def test_a_process_that_ended_took_nothing
    pid = fork { exit!(0) }
    Process.wait(pid)
    assert_equal [0.0, 0.0, 0, 0, 0, 0], Bench::ProcessUsage.of_tree(pid).to_a
  end
end
