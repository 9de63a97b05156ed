# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"
require_relative "../../bench/lib/leak_detector"

# Each in a process of its own, whose memory nobody else uses.
class LeakDetectorTest < Minitest::Test
  LIBRARY = File.expand_path("../../bench/lib/leak_detector", __dir__)
  READINGS = 6

  def test_garbage_and_what_malloc_keeps_is_no_growth
    assert_empty growth('Thread.new { (20_000 * step).times { +"garbage" }; Array.new(50 * step) { "x" * 100_000 } && nil }.join')
  end

  def test_objects_that_are_kept_are_found
    assert_match(/\Aobjects grew: \d+ then \d+$/, growth("kept << Array.new(3000) { Object.new }"))
  end

  def test_bytes_that_are_kept_are_found
    skip "needs Ruby 3.3" unless Bench::LeakDetector::TRIMS

    assert_match(/\Abytes in use grew: \d+ then \d+\n\z/, growth('kept << ("x" * 8_000_000)'))
  end

  def test_tells_the_last_reading
    memory = Bench::LeakDetector.new
    memory.read

    assert_match(/\A\d+\.\d MiB, \d+ objects\z/, memory.to_s)
  end

  private

  # @param work [String] Ruby, done before each reading: `step` counts, and what is in `kept` stays
  # @return [String] what has grown, a line each
  def growth(work)
    program = <<~RUBY
      memory = Bench::LeakDetector.new
      kept = []
      #{READINGS}.times { |step| #{work}; memory.read }
      puts memory.growth
    RUBY
    output, status = Open3.capture2({ "RUBYOPT" => nil }, RbConfig.ruby, "-r", LIBRARY, "-e", program)
    assert_predicate status, :success?
    output
  end
end
