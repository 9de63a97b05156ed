# frozen_string_literal: true

require_relative "statistics"

module Bench
  # Whether a series of readings still grows once the first third, the warm-up, is over: the median of the last third is held against
  # that of the middle one.
  class GrowthDetector
    READINGS_MIN = 6
    RATIO_MAX = 1.05

    # @param readings [Array<Numeric>] in the order they were taken
    # @param allowance [Numeric] a growth that is taken for noise
    def initialize(readings, allowance:)
      raise ArgumentError, "#{readings.size} readings tell nothing, #{READINGS_MIN} are needed" if readings.size < READINGS_MIN

      third = readings.size / 3
      @middle = Statistics.median(readings[third...-third])
      @last = Statistics.median(readings.last(third))
      @allowance = allowance
    end

    def found?
      @last > (@middle * RATIO_MAX) + @allowance
    end

    def to_s
      "#{@middle.round} then #{@last.round}"
    end
  end
end
