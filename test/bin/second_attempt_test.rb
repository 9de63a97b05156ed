# frozen_string_literal: true

require "open3"
require_relative "../test_helper"

# Failed tests run again in CI. A test that always fails still fails, and so do many failures at once.
class SecondAttemptTest < Minitest::Test
  ROOT = ServerProcess::ROOT
  PASSES_ALONE = "assert_equal(Process.pid, Integer(ENV.fetch(\"ALONE\")))" # the children of the run have other numbers

  def setup
    @dir = Dir.mktmpdir
    @outcomes = File.join(@dir, "outcomes")
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  # @param bodies [Array<String>] of the tests
  # @return [Array(String, Boolean)] the line of counts, and whether the run succeeded
  def run_tests(bodies, environment)
    tests = bodies.each_with_index.map { |body, index| "def test_#{index}\n#{body}\nend" }.join("\n")
    File.write(path = File.join(@dir, "some_test.rb"), <<~RUBY)
      ENV["ALONE"] = Process.pid.to_s
      require "minitest/autorun"
      require "#{ROOT}/test/test_helper"
      class SomeTest < Minitest::Test
        #{tests}
      end
    RUBY
    output, status = Open3.capture2e({ "NCPU" => "1", "UPWELL_SECOND_ATTEMPTS" => nil, "UPWELL_COUNTS" => nil, **environment }, RbConfig.ruby,
                                     path)
    [output[/^\d+ runs.*(?=, \d+ errors)/], status.success?]
  end

  def attempts
    File.read(@outcomes).scan(/^The second attempt, alone: (\w+)$/).flatten.sort
  end

  def test_a_test_that_passes_alone
    again = { "UPWELL_SECOND_ATTEMPTS" => @outcomes, "UPWELL_COUNTS" => @counts = File.join(@dir, "counts") }
    Dir.mkdir(@counts)
    assert_equal ["2 runs, 2 assertions, 0 failures", true], run_tests([PASSES_ALONE, "assert(true)"], again)
    assert_equal %w[passed], attempts
    assert system(RbConfig.ruby, "#{ROOT}/test/support/test_results_table.rb", @counts, out: File::NULL)
    assert_equal ["1 runs, 1 assertions, 1 failures", false], run_tests([PASSES_ALONE], {})
  end

  def test_a_test_that_always_fails
    assert_equal ["2 runs, 2 assertions, 1 failures", false], run_tests([PASSES_ALONE, "flunk"], { "UPWELL_SECOND_ATTEMPTS" => @outcomes })
    assert_equal %w[failed passed], attempts
  end

  def test_many_failures_are_not_tried_again
    assert_equal ["5 runs, 5 assertions, 5 failures", false], run_tests([PASSES_ALONE] * 5, { "UPWELL_SECOND_ATTEMPTS" => @outcomes })
    refute_path_exists @outcomes
  end

  # @param fails [String] shell commands of the first run; the second one passes
  # @return [String] the log of a program in C
  def run_program(fails, environment)
    File.write(program = File.join(@dir, "program_test"), <<~BASH, perm: 0o755)
      #!/usr/bin/env bash
      mkdir "#{@dir}/ran" 2>/dev/null || { echo "program_test: 1 passed, 0 failed, 0 skipped"; exit 0; }
      #{fails}
    BASH
    log = File.join(@dir, "log")
    system({ "UPWELL_SECOND_ATTEMPTS" => nil, **environment }, "#{ROOT}/test/core/run_test_program.sh", log, program, exception: true)
    File.read(log)
  end

  def test_a_program_in_c
    log = run_program("kill -SEGV $$", { "UPWELL_SECOND_ATTEMPTS" => @outcomes })
    assert_equal "program_test: 1 passed, 0 failed, 0 skipped\n", log
    assert_match(/^program_test: 0 passed, 1 failed, 0 skipped\n.*: the second attempt: passed\n/, File.read(@outcomes))
  end

  def test_a_program_in_c_without_a_second_attempt
    assert_equal "\nprogram_test: 0 passed, 1 failed, 0 skipped\n", run_program("exit 1", {})
    Dir.rmdir(File.join(@dir, "ran"))
    assert_equal "program_test: 0 passed, 2 failed, 0 skipped\n", run_program("echo 'program_test: 0 passed, 2 failed, 0 skipped'; exit 4", {})
  end
end
