# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/memory_in_use"

class MemoryInUseTest < Minitest::Test
  READINGS = 6

  def test_garbage_and_what_malloc_keeps_is_no_growth
    assert_empty growth { |step| Thread.new { waste(step) }.join }
  end

  def test_objects_that_are_kept_are_found
    kept = []

    assert_match(/\Aobjects grew: \d+ then \d+\z/, growth { kept.concat(Array.new(3000) { Object.new }) }.first)
  end

  def test_bytes_that_are_kept_are_found
    skip "needs Ruby 3.3" unless Bench::MemoryInUse::TRIMS
    kept = +""
    complaints = growth { kept << ("x" * 8_000_000) }

    assert_equal 1, complaints.size
    assert_match(/\Abytes in use grew: \d+ then \d+\z/, complaints.first)
  end

  def test_tells_the_last_reading
    memory = Bench::MemoryInUse.new
    memory.read

    assert_match(/\A\d+\.\d MiB, \d+ objects\z/, memory.to_s)
  end

  private

  def waste(step)
    (20_000 * step).times { +"garbage" }
    Array.new(50 * step) { "x" * 100_000 }
    nil
  end

  def growth
    memory = Bench::MemoryInUse.new
    READINGS.times do |step|
      yield step
      memory.read
    end
    memory.growth
  end
end
