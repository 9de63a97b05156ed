# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Delivers each publication once. Redis sends a publication for its channel and for each matching pattern, directly one after another, and
      # each at most once. Delivery by the channel already reaches all subscribers.
      class Deduplication
        # @param deliver [#call] called with channel and message
        def initialize(deliver)
          @deliver = deliver
          forget
        end

        # Delivers a message unless it is a duplicate.
        #
        # @param pattern [String, nil] nil: the message for the channel, which comes first
        # @param channel [String]
        # @param message [String]
        # @return [void]
        def call(pattern, channel, message)
          return if pattern && again?(pattern, channel, message)

          @channel = channel
          @message = message
          @patterns = [pattern].compact
          @deliver.call(channel, message)
        end

        # Resets the state, after another kind of event or for a new connection.
        #
        # @return [void]
        def forget
          @channel = @message = nil
          @patterns = []
        end

        private

        # If the same pattern occurs again, the same text was published again.
        def again?(pattern, channel, message)
          return false if @channel != channel || @message != message || @patterns.include?(pattern)

          @patterns << pattern
          true
        end
      end
    end
  end
end
