# frozen_string_literal: true

module Upwell
  # Seconds of a setting for a timer of the runtime's. One that is told of more than 24 days is due at once.
  module Milliseconds
    MAX = 2_147_483_647

    # @param seconds [Numeric]
    # @return [Numeric]
    def self.of(seconds)
      [seconds * 1000, MAX].min
    end
  end
end
