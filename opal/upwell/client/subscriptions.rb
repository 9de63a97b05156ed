# backtick_javascript: true
# frozen_string_literal: true

require "upwell/channels"
require "upwell/client/subscriber"
require "upwell/subscription"

module Upwell
  class Client
    # What a client has subscribed to.
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
      # @return [Subscription] of a client that is closed, one that gets nothing
      def add(channel, as, match, callable)
        check(as)
        subscriber = Subscriber.new(@client, Channels.topic(channel, match), match, as, callable)
        number = @last += 1
        keep(number, subscriber) if @client.open?
        Subscription.new(@client, number, channel, match)
      end

      # @param number [Integer]
      # @return [nil]
      def remove(number)
        subscriber = @subscribers.delete(number)
        subscriber&.end
        @channels.remove(subscriber) if subscriber
        nil
      end

      # @param channel [String]
      # @return [nil]
      def remove_named(channel)
        topic = `Opal.to_latin1(channel)`
        remove_if { |subscriber| subscriber.topic == topic }
      end

      # @return [nil]
      def clear
        remove_if { true }
      end

      private

      def check(as)
        raise ArgumentError, "as must be nil, :text or :binary, not #{as.inspect}" unless [nil, :text, :binary].include?(as)
      end

      # A second that is sent to the client as it is takes the place of the first.
      def keep(number, subscriber)
        remove_if { |other| other.same?(subscriber) } unless subscriber.calls?
        raise Error, "a client has at most #{MAX} subscriptions" if @subscribers.size >= MAX

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
