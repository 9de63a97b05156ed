# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Redis tells a publication once for its channel and once for each pattern that matches, one right behind another, and each at most once.
      # Subscribers shall have it once: who delivers finds all of them by the channel.
      class Once
        # @param deliver [#call] given a channel and a message
        def initialize(deliver)
          @deliver = deliver
          forget
        end

        # @param pattern [String, nil] nil: told for the channel, which comes first
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

        # Redis has told something else, or another connection begins.
        #
        # @return [void]
        def forget
          @channel = @message = nil
          @patterns = []
        end

        private

        # The same pattern again is the same text published again.
        def again?(pattern, channel, message)
          return false if @channel != channel || @message != message || @patterns.include?(pattern)

          @patterns << pattern
          true
        end
      end
    end
  end
end
