# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/system_calls"

class SystemCallsTest < Minitest::Test
  def test_reads_the_count
    assert_equal 4711, Bench::SystemCalls.parse("# started on Sat\n\n4711,,raw_syscalls:sys_enter,1000,100.00,,\n")
  end

  def test_what_was_not_counted_is_nothing
    assert_nil Bench::SystemCalls.parse("<not counted>,,raw_syscalls:sys_enter,0,0.00,,\n")
  end

  # perf may be missing here, or forbidden: then there is no count, but what was to be run has run.
  def test_counts_what_a_process_does_meanwhile
    reader, writer = IO.pipe
    pid = fork { loop { reader.sysread(1) } }
    result, calls = Bench::SystemCalls.count([pid]) do |counter|
      system(*counter, RbConfig.ruby, "--disable-gems", "-e", "100.times { $stdout.syswrite('x'); sleep 0.001 }", out: writer)
    end
    assert result
    assert_operator calls, :>=, 50 if calls
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    [reader, writer].each(&:close)
  end
end
