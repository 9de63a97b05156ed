# frozen_string_literal: true

require_relative "../exception_log"
require_relative "redis"

module Upwell
  module PubSub
    # A connection through Redis to the subscribers of servers, for processes without a server.
    class ExternalClient
      # The result of {ExternalClient#subscribe}.
      class Subscription
        # @return [String] channel or pattern
        attr_reader :to_s
        # @return [Symbol, nil]
        attr_reader :match

        # @see ExternalClient#subscribe
        def initialize(connection, name, match, block)
          @connection = connection
          @to_s = name
          @match = match
          @block = block
        end

        # Calls the subscription's block.
        #
        # @param channel [String]
        # @param message [String]
        def call(channel, message)
          @block.call(channel, message)
        end

        # Ends the subscription.
        #
        # @return [nil]
        def close
          @connection.unsubscribe(self)
        end

        # Compares the name with a string.
        #
        # @param other [String] channel or pattern
        # @return [Boolean]
        def ==(other)
          other.is_a?(String) ? to_s == other : equal?(other)
        end
      end

      # @see PubSub.connect
      def self.open(target)
        return new(target) if Redis::Address.match?(target)

        require_relative "external_publisher"
        ExternalPublisher.new(target)
      end

      # @param url [String] the URL of Redis
      def initialize(url)
        @redis = Redis.new(url, receiver: method(:receive))
        @subscriptions = Hash.new { |table, key| table[key] = [] }
        @lock = Mutex.new
      end

      # Publishes a message.
      #
      # @param channel [String]
      # @param message [String]
      # @return [Boolean] whether the message was accepted
      def publish(channel, message)
        @redis.publish(channel, message)
      end

      # Subscribes to a channel or a pattern. A thread of the connection calls the block, for one message after another.
      #
      # @param name [String] channel or pattern
      # @param match [Symbol, nil] :redis for a pattern
      # @yieldparam channel [String]
      # @yieldparam message [String] UTF-8 if valid, else BINARY
      # @return [Subscription]
      def subscribe(name, match: nil, &block)
        raise ArgumentError, "subscribe needs a block, which gets each message" unless block

        subscription = Subscription.new(self, name.to_s, match, block)
        @lock.synchronize do
          refuse(subscription) unless @redis.subscribe(subscription.to_s, match)

          @subscriptions[key(subscription)] += [subscription]
        end
        subscription
      end

      # Ends a subscription.
      #
      # @param subscription [Subscription]
      # @return [nil]
      def unsubscribe(subscription)
        @lock.synchronize do
          left = @subscriptions[key(subscription)].reject { |other| other.equal?(subscription) }
          next @subscriptions[key(subscription)] = left if left.any?

          @subscriptions.delete(key(subscription))
          @redis.unsubscribe(subscription.to_s, subscription.match)
        end
        nil
      end

      # Sends the waiting messages and closes the connection.
      #
      # @param seconds [Numeric] the time limit
      # @return [void]
      def close(seconds = Redis::CLOSE_MAX)
        @redis.close(seconds)
      end

      # @return [Hash{Symbol => Integer}] see {Redis#stats}
      def stats
        @redis.stats
      end

      private

      def refuse(subscription)
        match = subscription.match
        raise ArgumentError, "match must be nil or :redis, not #{match.inspect}" unless [nil, :redis].include?(match)

        raise ArgumentError, "the channel #{subscription} is reserved for Upwell; use another name"
      end

      def key(subscription)
        [subscription.to_s.b, subscription.match]
      end

      # Redis names the pattern or channel that matched.
      def receive(pattern, channel, message)
        key = pattern ? [pattern.b, :redis] : [channel.b, nil]
        subscriptions = @lock.synchronize { @subscriptions.fetch(key, []) }
        subscriptions.each { |subscription| tell(subscription, channel, message) }
      end

      # Each subscriber gets its own copy, and one subscriber's error does not affect the others.
      def tell(subscription, channel, message)
        subscription.call(channel, message.dup)
      rescue StandardError, ScriptError => e
        ExceptionLog.report(e, nil)
      end
    end
  end
end
