# frozen_string_literal: true

require_relative "../test_helper"
require "json"
require "open3"
require "rbconfig"
require "tmpdir"

# What CI ends with: the counts of all tests by backend, and a failure if one of them failed.
class TestResultsTableTest < Minitest::Test
  TABLE = File.expand_path("../support/test_results_table.rb", __dir__)
  CORE = <<~TEXT
    skipped reset_test(poll) a_reset: looks at: nobody
    reset_test(io_uring): 5 passed, 0 failed, 0 skipped
    reset_test(poll): 4 passed, 0 failed, 1 skipped
    slab_test: 7 passed, 0 failed, 0 skipped
  TEXT
  TESTS = [{ on: %w[io_uring poll], assertions: 3, end: "passed" }, { on: [], assertions: 2, end: "passed" },
           { on: %w[poll], assertions: 0, end: "skipped", reason: "no Redis" }].freeze

  def test_all_passed
    output, status = table(TESTS)
    assert_predicate status, :success?, output
    assert_equal <<~TEXT, output
      runs / failed / skipped               core          Ruby 3.4
      io_uring                         5 / 0 / 0         1 / 0 / 0
      poll                             5 / 0 / 1         2 / 0 / 1
      no backend                       7 / 0 / 0         1 / 0 / 0
      all, each once                  17 / 0 / 1         3 / 0 / 1

      A test that goes through several backends counts on each of them. Skipped:
          1  Ruby 3.4: no Redis
          1  core: looks at: nobody

      3 runs, 5 assertions, 0 failures, 0 errors, 1 skips
    TEXT
  end

  # Its failure is on purpose.
  def test_a_test_within_another_one_does_not_count
    Dir.mktmpdir do |folder|
      environment = { "UPWELL_COUNTS" => folder, "UPWELL_SECOND_ATTEMPTS" => nil }
      Open3.capture2e(environment, RbConfig.ruby, *%w[lib test].map { |path| "-I#{path}" }, "test/upwell/time_limit_test.rb", "-n", "/failure/",
                      chdir: File.expand_path("../..", __dir__))
      names = Dir.glob("#{folder}/*").flat_map { |file| File.readlines(file) }.map { |line| JSON.parse(line)["test"] }
      assert_equal ["TimeLimitTest#test_a_test_that_waits_is_a_failure"], names
    end
  end

  def test_one_failed
    output, status = table([*TESTS, { on: %w[poll], assertions: 1, end: "failures" }, { on: [], assertions: 0, end: "errors" }])
    assert_equal 1, status.exitstatus
    assert_match(%r{^poll +5 / 0 / 1 +3 / 1 / 1$}, output)
    assert_equal "5 runs, 6 assertions, 1 failures, 1 errors, 1 skips\n", output.lines.last
  end

  def test_a_second_attempt_takes_the_place_of_the_first
    first = { test: "A#test_b", on: %w[poll], assertions: 1, end: "failures" }
    output, status = table([*TESTS, first, { **first, again: true, end: "passed" }])
    assert_predicate status, :success?, output
    assert_includes output, "\nSecond attempt, passed: Ruby 3.4, A#test_b\n"
    assert_equal "4 runs, 6 assertions, 0 failures, 0 errors, 1 skips\n", output.lines.last
    output, status = table([*TESTS, first, { **first, again: true }])
    assert_equal 1, status.exitstatus
    assert_equal "4 runs, 6 assertions, 1 failures, 0 errors, 1 skips\n", output.lines.last
  end

  def test_one_of_the_core_failed
    _, status = table(TESTS, "#{CORE}utf8_test: 0 passed, 1 failed, 0 skipped\n")
    assert_equal 1, status.exitstatus
  end

  def test_nothing_ran
    _, status = table([], "")
    assert_equal 1, status.exitstatus
  end

  def test_what_a_test_says_of_itself
    Dir.mktmpdir do |folder|
      environment = { "UPWELL_COUNTS" => folder, "NCPU" => nil }
      output, status = Open3.capture2e(environment, RbConfig.ruby, "-I#{File.expand_path("..", __dir__)}", "-e", <<~RUBY)
        require "test_helper"
        class ToldTest < Minitest::Test
          def test_each = BACKENDS.each { |backend| assert backend }
          def test_skipped = skip("why")
          def test_wrong = flunk
          def test_raised = raise("no")
        end
      RUBY
      assert_equal 1, status.exitstatus, output
      told = Dir["#{folder}/*"].flat_map { |path| File.readlines(path) }.map { |line| JSON.parse(line) }
      assert_equal({ "ToldTest#test_each" => ["passed", BACKENDS], "ToldTest#test_skipped" => ["skipped", []],
                     "ToldTest#test_wrong" => ["failures", []], "ToldTest#test_raised" => ["errors", []] },
                   told.to_h { |test| [test["test"], test.values_at("end", "on")] })
    end
  end

  private

  def table(tests, core = CORE)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/core-plain", core)
      File.write("#{folder}/ruby-1", tests.map { |test| "#{JSON.generate({ by: "Ruby 3.4", **test })}\n" }.join)
      return Open3.capture2e(RbConfig.ruby, TABLE, folder)
    end
  end
end
