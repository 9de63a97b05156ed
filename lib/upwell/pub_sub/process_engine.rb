# frozen_string_literal: true

module Upwell
  module PubSub
    # The engine for the subscribers of this process only.
    class ProcessEngine
      # @return [true] the process knows its subscriptions
      def subscribe(_channel, _match = nil)
        true
      end

      # @return [true]
      def unsubscribe(_channel, _match = nil)
        true
      end

      # Publishes a message to the subscribers of this process.
      #
      # @param channel [String]
      # @param message [String]
      # @return [Boolean]
      def publish(channel, message)
        PubSub.deliver(channel, message)
      end
    end
  end
end
