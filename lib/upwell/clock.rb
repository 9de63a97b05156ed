# frozen_string_literal: true

module Upwell
  # Time that never goes back.
  module Clock
    # @return [Float] seconds
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
