# frozen_string_literal: true

module Bench
  module Statistics
    class << self
      # @return [Numeric] the middle value; between two of them, their mean
      def median(values)
        sorted = values.sort
        middle = sorted.size / 2
        sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
      end

      # @return [Numeric] the smallest value that so many percent of the values do not exceed
      def percentile(values, percent)
        sorted = values.sort
        sorted[[(sorted.size * percent / 100.0).ceil - 1, 0].max]
      end
    end
  end
end
