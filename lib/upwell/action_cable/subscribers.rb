# frozen_string_literal: true

require_relative "direct_stream"

module Upwell
  module ActionCable
    # Distributes broadcasts: the process has one subscription per broadcasting, for any number of streams.
    class Subscribers < ::ActionCable::SubscriptionAdapter::SubscriberMap
      # @param logger [Logger] receives errors
      def initialize(logger)
        super()
        @logger = logger
        @subscriptions = {}
      end

      # The success callback runs without the lock, because it may subscribe, too.
      def add_subscriber(channel, subscriber, on_success)
        super(channel, subscriber, nil)
        on_success&.call
      end

      # :nodoc: If the subscription fails here, the next subscriber tries again.
      def add_channel(channel, _on_success)
        @subscriptions[channel] = Upwell.subscribe(channel) { |_channel, message| broadcast(channel, DirectStream::Message.new(message)) }
      ensure
        @subscribers.delete(channel) unless @subscriptions.key?(channel)
      end

      # :nodoc:
      def remove_channel(channel)
        @subscriptions.delete(channel)&.close
      end

      # :nodoc: The error of one subscriber does not affect the others.
      def invoke_callback(callback, message)
        super
      rescue StandardError => e
        @logger.error("#{e.class}: #{e.message}\n#{e.backtrace&.join("\n")}")
      end

      # Ends all subscriptions.
      def close
        @sync.synchronize do
          @subscribers.clear
          @subscriptions.each_value(&:close).clear
        end
      end
    end
  end
end
