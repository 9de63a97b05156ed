# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/memory_in_use"

class MemoryInUseTest < Minitest::Test
  READINGS = 6
  MEBIBYTE = 1 << 20

  def test_garbage_and_what_malloc_keeps_is_no_growth
    assert_empty growth { |step| Thread.new { Array.new(20_000 * step) { +"garbage" } + Array.new(5 * step) { "x" * MEBIBYTE } }.join }
  end

  def test_objects_that_are_kept_are_found
    kept = []

    assert_match(/\Aobjects grew: \d+ then \d+\z/, growth { kept.concat(Array.new(3000) { Object.new }) }.first)
  end

  def test_memory_that_no_object_holds_is_found
    leaks = []
    complaints = growth do
      leaks << Fiddle.malloc(8 * MEBIBYTE)
      Fiddle::Pointer.new(leaks.last)[0, 8 * MEBIBYTE] = "x" * (8 * MEBIBYTE)
    end

    assert_equal 1, complaints.size
    assert_match(/\Abytes in use grew: \d+ then \d+\z/, complaints.first)
  ensure
    leaks.each { |address| Fiddle.free(address) }
  end

  def test_tells_the_last_reading
    memory = Bench::MemoryInUse.new
    memory.read

    assert_match(/\A\d+\.\d MiB, \d+ objects\z/, memory.to_s)
  end

  private

  def growth
    memory = Bench::MemoryInUse.new
    READINGS.times do |step|
      yield step
      memory.read
    end
    memory.growth
  end
end
