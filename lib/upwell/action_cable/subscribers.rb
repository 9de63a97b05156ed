# frozen_string_literal: true

require_relative "direct_stream"

module Upwell
  module ActionCable
    # Who is told what is broadcast: one subscription of the process for each broadcasting, however many streams there are of it.
    class Subscribers < ::ActionCable::SubscriptionAdapter::SubscriberMap
      # @param logger [Logger] of errors
      def initialize(logger)
        super()
        @logger = logger
        @subscriptions = {}
      end

      # The success is told without the lock, as whoever hears of it may subscribe, too.
      def add_subscriber(channel, subscriber, on_success)
        super(channel, subscriber, nil)
        on_success&.call
      end

      # :nodoc: The next one tries again where this one fails.
      def add_channel(channel, _on_success)
        @subscriptions[channel] = Upwell.subscribe(channel) { |_channel, message| broadcast(channel, DirectStream::Message.new(message)) }
      ensure
        @subscribers.delete(channel) unless @subscriptions.key?(channel)
      end

      # :nodoc:
      def remove_channel(channel)
        @subscriptions.delete(channel)&.close
      end

      # :nodoc: One that fails takes it from no other.
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
