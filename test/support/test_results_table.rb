# frozen_string_literal: true

# The table of what ran on which backend, from the folder of counts that the tests have filled (TestResultsByBackend; core/Makefile):
#
#   UPWELL_COUNTS=$(mktemp -d) rake test:core test && ruby test/support/test_results_table.rb $UPWELL_COUNTS
#
# Ends as a run of all Ruby tests would, with their counts, and with status 1 if one has failed, or if there is none.

require "json"

class TestResultsTable
  BACKENDS = %w[io_uring io_uring_sqpoll epoll poll kqueue iocp select].freeze # select: in Ruby, without the extension
  NONE = "no backend"
  ALL = "all, each once"
  FAILED = %w[failures errors].freeze
  CORE_MACHINE = /arm64|musl|windows/
  CORE_SUMMARY = /\A\w+(?:\((?<backend>\w+)\))?: (?<passed>\d+) passed, (?<failed>\d+) failed, (?<skipped>\d+) skipped\r?\Z/
  CORE_SKIP = /\Askipped \S+ \S+: (?<reason>.+?)\r?\Z/

  # @param folder [String]
  def initialize(folder)
    @cells = Hash.new { |cells, place| cells[place] = { runs: 0, failed: 0, skipped: 0 } } # by row and column
    @skips = Hash.new(0) # by column and reason
    @tests = last_attempts(Dir[File.join(folder, "ruby-*")].flat_map { |path| read_tests(path) })
    Dir[File.join(folder, "core-*")].each { |path| count_core(path) }
    @tests.each { |test| count_test(test) }
  end

  def print
    rows = (BACKENDS & seen) | (seen - [NONE, ALL]) | ([NONE, ALL] & seen)
    puts line("runs / failed / skipped", columns)
    rows.each { |row| puts line(row, columns.map { |column| cell(row, column) }) }
    puts "\nA test that goes through several backends counts on each of them. Skipped:"
    @skips.sort_by { |(column, _), count| [column, -count] }.each { |(column, reason), count| puts format("%5d  %s: %s", count, column, reason) }
    @tests.each { |test| puts "Second attempt, #{test["end"]}: #{test["by"]}, #{test["test"]}" if test["again"] }
    puts "", "#{@tests.size} runs, #{@tests.sum { |test| test["assertions"] }} assertions, #{ended("failures")} failures, " \
             "#{ended("errors")} errors, #{ended("skipped")} skips"
  end

  def passed?
    columns.any? && @cells.values.sum { |cell| cell[:failed] }.zero?
  end

  private

  def read_tests(path)
    File.foreach(path, encoding: "UTF-8").map { |line| JSON.parse(line) }
  end

  # A second attempt (SecondAttempt) takes the place of the first one, which failed.
  def last_attempts(tests)
    second, first = tests.partition { |test| test["again"] }
    name = ->(test) { test.values_at("by", "test") }
    first.reject { |test| FAILED.include?(test["end"]) && second.any? { |again| name[again] == name[test] } } + second
  end

  # What one program says of itself, for each backend.
  def count_core(path)
    column = ["core", File.basename(path)[CORE_MACHINE]].compact.join(", ")
    File.foreach(path, encoding: "UTF-8") do |line|
      line.scrub!
      if (skip = CORE_SKIP.match(line))
        @skips[[column, skip[:reason]]] += 1
      elsif (summary = CORE_SUMMARY.match(line))
        passed, failed, skipped = summary.values_at(:passed, :failed, :skipped).map(&:to_i)
        count(column, [summary[:backend]].compact, passed + failed + skipped, failed, skipped)
      end
    end
  end

  def count_test(test)
    skipped = test["end"] == "skipped"
    failed = FAILED.include?(test["end"])
    count(test["by"], test["on"], 1, failed ? 1 : 0, skipped ? 1 : 0)
    @skips[[test["by"], test["reason"]]] += 1 if skipped
  end

  def count(column, backends, runs, failed, skipped)
    [*(backends.empty? ? [NONE] : backends), ALL].each do |row|
      @cells[[row, column]].merge!({ runs: runs, failed: failed, skipped: skipped }) { |_, before, more| before + more }
    end
  end

  def seen
    @cells.keys.map(&:first).uniq
  end

  def columns
    @columns ||= @cells.keys.map(&:last).uniq.sort_by { |column| [column.start_with?("core") ? 0 : 1, column] }
  end

  def cell(row, column)
    @cells.key?([row, column]) ? @cells[[row, column]].values.join(" / ") : "-"
  end

  def ended(how)
    @tests.count { |test| test["end"] == how }
  end

  def line(first, others)
    first.ljust(24) + others.map { |text| text.rjust(18) }.join
  end
end

if $PROGRAM_NAME == __FILE__
  table = TestResultsTable.new(ARGV.fetch(0))
  table.print
  exit table.passed?
end
