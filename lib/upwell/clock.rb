# frozen_string_literal: true

module Upwell
  # A monotonic clock (see clock_gettime(2)).
  module Clock
    # @return [Float] seconds
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
