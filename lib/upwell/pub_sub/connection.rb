# frozen_string_literal: true

require_relative "../error_log"
require_relative "redis"

module Upwell
  module PubSub
    # Another process's connection to the subscribers of servers, by Redis.
    class Connection
      # What {Connection#subscribe} returns.
      class Subscription
        # @return [String] channel or pattern
        attr_reader :to_s
        # @return [Symbol, nil]
        attr_reader :match

        # @see Connection#subscribe
        def initialize(connection, name, match, block)
          @connection = connection
          @to_s = name
          @match = match
          @block = block
        end

        # @param channel [String]
        # @param message [String]
        def call(channel, message)
          @block.call(channel, message)
        end

        # Ends it.
        #
        # @return [nil]
        def close
          @connection.unsubscribe(self)
        end

        # @param other [String] channel or pattern
        # @return [Boolean]
        def ==(other)
          other.is_a?(String) ? to_s == other : equal?(other)
        end
      end

      # @see PubSub.connect
      def self.open(target)
        return new(target) if Redis::Address.match?(target)

        require_relative "folder_connection"
        FolderConnection.new(target)
      end

      # @param url [String] of Redis
      def initialize(url)
        @redis = Redis.new(url, receiver: method(:receive))
        @subscriptions = Hash.new { |table, key| table[key] = [] }
        @lock = Mutex.new
      end

      # @param channel [String]
      # @param message [String]
      # @return [Boolean] whether it is on its way
      def publish(channel, message)
        @redis.publish(channel, message)
      end

      # @param name [String] channel or pattern
      # @param match [Symbol, nil] :redis for a pattern
      # @yieldparam channel [String]
      # @yieldparam message [String] UTF-8 if it can be, else BINARY
      # @return [Subscription] its block is called by a thread of the connection, one message after another
      def subscribe(name, match: nil, &block)
        raise ArgumentError, "a block is needed" unless block

        subscription = Subscription.new(self, name.to_s, match, block)
        @lock.synchronize do
          raise ArgumentError, "match must be nil or :redis" unless @redis.subscribe(subscription.to_s, match)

          @subscriptions[key(subscription)] += [subscription]
        end
        subscription
      end

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

      # Sends what waits, and ends.
      #
      # @param seconds [Numeric] for that
      # @return [void]
      def close(seconds = Redis::CLOSE_MAX)
        @redis.close(seconds)
      end

      # @return [Hash{Symbol => Integer}] see {Redis#stats}
      def stats
        @redis.stats
      end

      private

      def key(subscription)
        [subscription.to_s.b, subscription.match]
      end

      # Redis tells who is meant.
      def receive(pattern, channel, message)
        key = pattern ? [pattern.b, :redis] : [channel.b, nil]
        subscriptions = @lock.synchronize { @subscriptions.fetch(key, []) }
        subscriptions.each { |subscription| tell(subscription, channel, message) }
      end

      # One that fails, or changes its message, takes it from no other.
      def tell(subscription, channel, message)
        subscription.call(channel, message.dup)
      rescue StandardError, ScriptError => e
        ErrorLog.report(e, nil)
      end
    end
  end
end
