# frozen_string_literal: true

require_relative "../test_helper"

# A test that waits for ever fails with what was seen.
class TimeLimitTest < Minitest::Test
  WAITS = {
    "gets" => -> { IO.pipe.first.gets }, "pop" => -> { Queue.new.pop }, "join" => -> { Thread.new { sleep }.join },
    "wait" => -> { await_child }
  }.freeze

  def self.await_child
    pid = spawn("sleep", "60")
    Process.wait(pid)
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
  end

  def test_each_wait_ends
    WAITS.each do |name, wait|
      error = assert_raises(TimeLimit::Exceeded, name) { TimeLimit.keep(0.01) { wait.call } }
      assert_match(/\Athe test does not end:\n.*\n.*time_limit_test.rb/m, error.message, name)
    end
  end

  # It is Minitest's, of another test, that counts.
  class Waiting < Minitest::Test
    SECONDS = 0.01

    def self.runnable_methods
      []
    end

    def capture_exceptions
      super { TimeLimit.keep(SECONDS) { yield } }
    end

    def test_waits
      Queue.new.pop
    end
  end

  def test_a_test_that_waits_is_a_failure
    result = Waiting.new(:test_waits).run
    assert_match(/the test does not end/, result.failure.message)
    refute_predicate result, :error?
  end
end
