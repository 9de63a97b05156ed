# backtick_javascript: true
# frozen_string_literal: true

require "upwell/channels"
require "upwell/client/channel_subscription"
require "upwell/subscription"

module Upwell
  class Client
    # The subscriptions of a client.
    class Subscriptions
      MAX = 1024

      # @param client [Client]
      # @param channels [Channels]
      def initialize(client, channels)
        @client = client
        @channels = channels
        @subscribers = {} # by number
        @last = 0
      end

      # @see Client#subscribe
      # @return [Subscription, nil] nil: the client is closed
      def add(channel, as, match, callable)
        check(as)
        subscriber = ChannelSubscription.new(@client, Channels.topic(channel, match), match, as, callable)
        return unless @client.open?

        number = @last += 1
        keep(number, subscriber)
        Subscription.new(@client, number, channel, match)
      end

      # Ends a subscription.
      #
      # @param number [Integer]
      # @return [nil]
      def remove(number)
        subscriber = @subscribers.delete(number)
        subscriber&.end
        @channels.remove(subscriber) if subscriber
        nil
      end

      # Ends all subscriptions with a name.
      #
      # @param channel [String]
      # @param is_pattern [Boolean, nil] nil: channel and pattern
      # @return [nil]
      def remove_named(channel, is_pattern)
        topic = `Opal.to_latin1(channel)`
        match = PubSub.match_of(is_pattern, nil)
        remove_if { |subscriber| subscriber.topic == topic && (is_pattern.nil? || subscriber.match == match) }
      end

      # @return [nil]
      def clear
        remove_if { true }
      end

      private

      def check(as)
        raise ArgumentError, "as must be nil, :text or :binary, not #{as.inspect}" unless [nil, :text, :binary].include?(as)
      end

      # A second subscription that is sent to the client unchanged replaces the first.
      def keep(number, subscriber)
        remove_if { |other| other.same?(subscriber) } unless subscriber.calls?
        raise Error, "this client already has #{MAX} subscriptions, the maximum; unsubscribe from one first" if @subscribers.size >= MAX

        @channels.add(subscriber)
        @subscribers[number] = subscriber
      end

      def remove_if
        @subscribers.select { |_number, subscriber| yield subscriber }.each_key { |number| remove(number) }
        nil
      end
    end
  end
end
