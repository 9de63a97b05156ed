# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../bench/lib/statistics"

class StatisticsTest < Minitest::Test
  def test_median_is_the_middle_value
    assert_equal 3, Bench::Statistics.median([9, 1, 3])
  end

  def test_median_of_an_even_number_is_the_mean_of_the_two_in_the_middle
    assert_equal 2.5, Bench::Statistics.median([4, 1, 3, 2])
  end

  def test_percentile_is_the_smallest_value_that_so_many_do_not_exceed
    values = (1..200).to_a.reverse
    assert_equal [100, 198, 200, 1], [50, 99, 100, 0].map { |percent| Bench::Statistics.percentile(values, percent) }
  end
end
