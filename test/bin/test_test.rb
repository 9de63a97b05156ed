# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "tmpdir"

# bin/test with right and wrong arguments. A stand-in for Bundler prints the command for a test in Ruby: other tests run meanwhile, and keep
# their extension.
class TestCommandTest < Minitest::Test
  COMMAND = File.expand_path("../../bin/test", __dir__)
  ROOT = File.expand_path("../..", __dir__)
  RUBY_FILE = "test/bin/once_test.rb"
  C_FILE = "test/core/http/date_test.c"
  BUNDLER = <<~PROGRAM
    #!/bin/sh
    [ "$3" = --quiet ] || echo "$@" "on $UPWELL_TEST_BACKEND"
    echo "${RUNS:-1} runs, 1 assertions"
    exit "${STATUS:-0}"
  PROGRAM

  # @return [Array(String, Integer)] what it printed, and its exit status
  def run_command(*arguments, directory: ROOT, **environment)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "bundle"), BUNDLER, perm: 0o755)
      environment = { "PATH" => "#{folder}:#{ENV.fetch("PATH")}", "RUBYOPT" => nil, "RUBYLIB" => nil, **environment.transform_keys(&:to_s) }
      output, status = Open3.capture2e(environment, RbConfig.ruby, COMMAND, *arguments, chdir: directory)
      [output, status.exitstatus]
    end
  end

  def line_of(file, text)
    File.readlines(File.join(ROOT, file)).index { |line| line.include?(text) } + 1
  end

  def assert_passes(expected, *arguments, **options)
    output, status = run_command(*arguments, **options)
    assert_includes output, expected
    assert_equal 0, status, output
  end

  def assert_refused(sentence, *arguments, **options)
    output, status = run_command(*arguments, **options)
    assert_equal sentence, output.lines.last&.chomp
    assert_equal 1, status
  end

  def test_a_file_in_ruby
    assert_passes "exec ruby -W0 -Ilib -Itest #{RUBY_FILE} on \n", RUBY_FILE
    assert_passes "#{RUBY_FILE} -n /once/ on epoll\n", "--backend", "epoll", "-n", "once", RUBY_FILE
  end

  def test_a_file_from_another_folder
    assert_passes "-Itest #{RUBY_FILE} on", File.basename(RUBY_FILE), directory: File.join(ROOT, "test/bin")
  end

  def test_a_file_in_c_that_reads_the_fuzz_corpus
    assert_passes "0 failed, 0 skipped", "test/core/http/path_corpus_test.c"
  end

  def test_the_test_at_a_line
    line = line_of(RUBY_FILE, "def test_it_is_done_once")
    [line, line + 3].each { |at| assert_passes "-n /\\A(?:test_it_is_done_once)\\z/", "#{RUBY_FILE}:#{at}" }
  end

  def test_a_test_that_a_method_defines
    file = "test/libraries/libraries_test.rb"
    assert_passes "-n /\\A(?:test_.*)\\z/", "#{file}:#{line_of(file, "found = measure")}"
  end

  def test_a_file_in_c
    skip "the core is compiled for other backends" if ENV["UPWELL_BACKENDS"]
    assert_passes "date_test: 1 passed, 0 failed, 0 skipped", "#{C_FILE}:#{line_of(C_FILE, "TEST(") + 2}"
  end

  def test_a_failure_is_the_status
    assert_equal 1, run_command(RUBY_FILE, STATUS: "1").last
  end

  def test_what_is_wrong
    assert_refused "usage: bin/test [--backend NAME] [-n NAME] FILE[:LINE] ..."
    assert_refused "bin/test: invalid option: --fast; see bin/test --help", "--fast", RUBY_FILE
    assert_refused "bin/test: the file nowhere_test.rb does not exist", "nowhere_test.rb"
    assert_refused "bin/test: README.md is not a test file; name test/**/*_test.rb, or *_test.c in test/core or test/contract", "README.md"
    assert_refused "bin/test: no test in #{RUBY_FILE} contains line 1", "#{RUBY_FILE}:1"
    assert_refused "bin/test: no test name in #{RUBY_FILE} contains nothing", "-n", "nothing", RUBY_FILE, RUNS: "0"
    assert_refused "bin/test: --backend works only for Ruby and test/contract; remove it for #{C_FILE}", "--backend", "poll", C_FILE
    file = "test/native/precompiled_gem_test.rb"
    assert_refused "bin/test: tests in test/native/ need their own task; run bundle exec rake test:native", file
  end
end
