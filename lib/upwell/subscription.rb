# frozen_string_literal: true

module Upwell
  # A subscription to a channel or a pattern, as returned by {Client#subscribe} and {Upwell.subscribe}. Any thread may use it.
  class Subscription
    # @return [String] the channel's name, or the pattern
    attr_reader :to_s
    # @return [Symbol, nil] :redis for a pattern
    attr_reader :match

    # @param owner [#end_subscription]
    # @param key [Object] the owner's key of the subscription
    # @param name [String]
    # @param match [Symbol, nil]
    def initialize(owner, key, name, match)
      @owner = owner
      @key = key
      @to_s = name
      @match = match
    end

    # Ends the subscription: its block is not called any more. Further calls have no effect.
    #
    # @return [nil]
    def close
      @owner.end_subscription(@key)
      nil
    end

    # Compares the subscription with another, or its name with a string.
    #
    # @param other [String, Subscription]
    # @return [Boolean] whether the name is equal, or the subscription is the same
    def ==(other)
      other.is_a?(String) ? to_s == other : equal?(other)
    end
  end
end
