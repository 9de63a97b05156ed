# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/lingering_children"

# What the tests start ends with them, with whatever it has forked: whether they pass, fail or are ended themselves.
class TestProcessCleanupTest < Minitest::Test
  include LingeringChildren

  PATIENCE = 60 # seconds
  HELPER = File.expand_path("../test_helper.rb", __dir__)
  ALONE = { "NCPU" => nil, "UPWELL_COUNTS" => nil }.freeze # in one process, whose tests are not among those that ran
  TEST = <<~RUBY
    class StartingTest < Minitest::Test
      def test_it
        server = ServerProcess.new("-w", "1", app: "lingering_children.ru")
        RawClient.get(server.port, "/")
        warn server.pid
        sleep
      end
    end
  RUBY

  def members(group)
    Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).select { |pid| group_of(pid) == group }
  end

  def group_of(pid)
    Process.getpgid(pid)
  rescue Errno::ESRCH
    nil
  end

  def await_end(group)
    Timeout.timeout(PATIENCE) { sleep 0.02 until members(group).empty? }
  end

  def test_a_server_whose_test_fails
    with_pipe do |environment|
      group = nil
      assert_raises(RuntimeError) do
        ServerProcess.open("-w", "1", app: "lingering_children.ru", environment: environment) do |server|
          RawClient.get(server.port, "/")
          group = server.pid
          assert_equal 3, members(group).size # supervisor, worker, and the child of a request
          raise "on purpose"
        end
      end
      await_end(group)
    end
  end

  def test_a_server_whose_test_is_ended
    with_pipe do |environment|
      reader, writer = IO.pipe
      alone = environment.merge(ALONE) # the process that is ended is the one that has started the server
      tests = ProcessGroup.spawn(alone, RbConfig.ruby, "-r#{HELPER}", "-e", TEST, out: File::NULL, err: writer)
      group = Timeout.timeout(ServerProcess::START_MAX) { reader.gets }.to_i
      assert_equal 3, members(group).size
      Process.kill("TERM", tests)
      ProcessGroup.wait(tests)
      await_end(group)
    end
  end

  # It has a copy of the pipe that its process of the tests tells the results by.
  def test_a_child_that_a_test_has_left_does_not_keep_the_tests_from_their_end
    script = "class LeavingTest < Minitest::Test; def test_it = assert(fork { sleep }); end"
    output, errors, status = Open3.capture3(ALONE.merge("NCPU" => "2"), RbConfig.ruby, "-r#{HELPER}", "-e", script)
    assert_predicate status, :success?
    assert_match(/^1 runs, 1 assertions, 0 failures/, output)
    assert_match(/left behind, and killed: \d+ LeavingTest#test_it/, errors)
  end

  def test_a_process_of_the_tests_that_ends_before_its_time_fails_them
    script = "Class.new(Minitest::Test) { def test_it = exit!(0) }"
    output, errors, status = Open3.capture3(ALONE.merge("NCPU" => "2"), RbConfig.ruby, "-r#{HELPER}", "-e", script)
    refute_predicate status, :success?
    refute_match(/\d runs/, output)
    assert_match(/ended without a result: pid \d+ exit 0/, errors)
  end

  def test_a_test_whose_child_hangs_in_the_fork_of_ruby_is_run_once_more
    skip "no child of this Ruby does" unless HungChild::POSSIBLE

    script = <<~RUBY
      class HangingTest < Minitest::Test
        COUNT = [0]

        def test_it
          return if (COUNT[0] += 1) == 2
          pid = fork { Thread.new { sleep }.join }
          sleep 0.01 until File.read("/proc/\#{pid}/wchan").start_with?("futex_")
          flunk "on purpose"
        end
      end
    RUBY
    output, errors, status = Open3.capture3(ALONE, RbConfig.ruby, "-r#{HELPER}", "-e", script)
    assert_predicate status, :success?
    assert_match(/^1 runs, 0 assertions, 0 failures/, output)
    assert_match(/HangingTest#test_it is run once more.*: on purpose/, errors)
  end

  # Whoever has its number next must not be killed.
  def test_a_group_that_was_waited_for_is_forgotten
    pid = ProcessGroup.spawn(RbConfig.ruby, "-e", "spawn('sleep', '60')")
    assert_predicate ProcessGroup.wait(pid), :success?
    await_end(pid)
    refute_includes ProcessGroup.instance_variable_get(:@started), pid
  end
end
