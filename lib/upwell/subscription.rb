# frozen_string_literal: true

module Upwell
  # What {Client#subscribe} and {Upwell.subscribe} return: the name of a channel, or a pattern, and how to end it. Any thread may use it.
  class Subscription
    # @return [String] the channel's name, or the pattern
    attr_reader :to_s
    # @return [Symbol, nil] :redis for a pattern
    attr_reader :match

    # @param owner [#end_subscription]
    # @param key [Object] by which the owner knows it
    # @param name [String]
    # @param match [Symbol, nil]
    def initialize(owner, key, name, match)
      @owner = owner
      @key = key
      @to_s = name
      @match = match
    end

    # Ends it: its block is not called any more. May be called again.
    #
    # @return [nil]
    def close
      @owner.end_subscription(@key)
      nil
    end

    # @param other [String, Subscription]
    # @return [Boolean] whether it is of that name, or the same
    def ==(other)
      other.is_a?(String) ? to_s == other : equal?(other)
    end
  end
end
