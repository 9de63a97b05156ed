# frozen_string_literal: true

module Upwell
  # Converts seconds of a setting for a timer of the runtime. A timer of more than 24 days would fire immediately.
  module TimerMilliseconds
    MAX = 2_147_483_647

    # Converts seconds to milliseconds.
    #
    # @param seconds [Numeric]
    # @return [Numeric]
    def self.of(seconds)
      [seconds * 1000, MAX].min
    end

    # Limits a part of the work to a quarter of the time.
    #
    # @param seconds [Numeric]
    # @param most [Numeric] milliseconds, the upper limit
    # @return [Numeric] milliseconds
    def self.part(seconds, most)
      [most, of(seconds / 4)].min
    end
  end
end
