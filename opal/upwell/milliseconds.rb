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

    # For a part of what has to be done in that time.
    #
    # @param seconds [Numeric]
    # @param most [Numeric] milliseconds
    # @return [Numeric] that, or a quarter of the time
    def self.part(seconds, most)
      [most, of(seconds / 4)].min
    end
  end
end
