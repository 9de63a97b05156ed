# frozen_string_literal: true

module Upwell
  module PubSub
    # The engine that reaches the subscribers of this process, and nobody else.
    class OwnProcess
      # @return [true] they are known
      def subscribe(_channel, _match = nil)
        true
      end

      # @return [true]
      def unsubscribe(_channel, _match = nil)
        true
      end

      # @param channel [String]
      # @param message [String]
      # @return [Boolean]
      def publish(channel, message)
        PubSub.deliver(channel, message)
      end
    end
  end
end
