# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/growth_detector"

class GrowthDetectorTest < Minitest::Test
  def test_a_warm_up_is_no_growth
    refute_predicate growth([10, 40, 80, 100, 101, 100, 100, 99, 101]), :found?
  end

  def test_what_grows_on_is_found
    assert_predicate growth([100, 110, 120, 130, 140, 150, 160, 170, 180]), :found?
  end

  def test_a_single_peak_is_no_growth
    refute_predicate growth([100, 100, 100, 100, 100, 100, 100, 900, 100]), :found?
  end

  def test_growth_within_the_allowance_is_noise
    readings = [5, 5, 5, 5, 5, 5, 9, 9, 9]

    assert_predicate growth(readings, allowance: 3), :found?
    refute_predicate growth(readings, allowance: 4), :found?
  end

  def test_tells_the_two_medians
    assert_equal "100 then 120", growth([1, 1, 100, 100, 120, 120]).to_s
  end

  def test_too_few_readings_are_refused
    assert_raises(ArgumentError) { growth([1, 2, 3, 4, 5]) }
  end

  private

  def growth(readings, allowance: 0)
    Bench::GrowthDetector.new(readings, allowance: allowance)
  end
end
