# frozen_string_literal: true

require_relative "../clock"
require_relative "../exception_log"
require_relative "redis/address"
require_relative "redis/deduplication"
require_relative "redis/delivery_throttle"
require_relative "redis/session"

module Upwell
  module PubSub
    # The engine for all processes on all machines that use the same Redis or Valkey (version 6 or later), through the gem redis-client. It
    # reconnects automatically. Each process has its own connections and threads, which start on first use.
    #
    #     Upwell::PubSub.default = Upwell::PubSub::Redis.new("rediss://:secret@redis.example.com?ca_file=/etc/ssl/redis.pem")
    #
    # A process's own messages reach its subscribers through Redis, as all others do, and never earlier.
    class Redis
      MESSAGES_MAX = 10_000 # the limit of messages that wait for Redis, and also of messages kept for repetition
      BYTES_MAX = 16 * 1024 * 1024 # the limit of bytes for each of them
      CLOSE_MAX = 1 # seconds to send the waiting messages at the end
      DELIVERY_PAUSE = 0.1 # seconds before a message is offered again to a process that accepts none
      MATCHES = [nil, :redis].freeze # kinds of names that Redis supports: channels and its own patterns

      # @param url [String] redis://, rediss:// (TLS) or unix:; certificates are verified with the system's CAs, or with those of the
      #   parameter `ca_file` (environment: SSL_CERT_FILE)
      # @param messages_max [Integer] the limit of messages that wait for Redis, and also of messages kept for repetition
      # @param bytes_max [Integer] the limit of bytes for each of them
      # @param receiver [#call] called with the pattern or nil, the channel, and the message
      # @raise [ArgumentError] for another URL
      # @raise [LoadError] when the gem redis-client is missing
      def initialize(url, messages_max: MESSAGES_MAX, bytes_max: BYTES_MAX, receiver: Deduplication.new(method(:deliver)))
        Redis.load_client
        @address = Address.new(url)
        @limits = [messages_max, bytes_max]
        @receiver = receiver
        @pace = DeliveryThrottle.new
        @lock = Mutex.new
      end

      # Loads the gem redis-client, which is an optional dependency.
      #
      # @raise [LoadError]
      def self.load_client
        require "redis_client"
      rescue LoadError => e
        raise unless e.path == "redis_client"

        raise LoadError, "publish/subscribe by Redis needs the gem redis-client; install it: " \
                         "#{defined?(::Bundler) ? "bundle add" : "gem install"} redis-client"
      end

      # Publishes a message, without waiting.
      #
      # @param channel [String]
      # @param message [String] sent as bytes; Redis has no encodings
      # @return [Boolean] false when the queue is full, after {#close}, or for {ReplayProtocol::CHANNEL}
      def publish(channel, message)
        return false if reserved?(channel)

        session.publish(channel.to_s.b, message.to_s.b)
      end

      # Subscribes to a channel or a pattern.
      #
      # @param name [String] channel or pattern
      # @param match [Symbol, nil] :redis for a pattern
      # @return [Boolean] false for another kind of pattern, and for {ReplayProtocol::CHANNEL}
      def subscribe(name, match = nil)
        change(name, match, true)
      end

      # @see #subscribe
      def unsubscribe(name, match = nil)
        change(name, match, false)
      end

      # Connects now, and not at the first message. The log reports a failure.
      #
      # @return [self]
      def start
        session.start
        self
      end

      # Sends the waiting messages and closes the connections. The exit of the process does so, too, within {CLOSE_MAX}.
      #
      # @param seconds [Numeric] the time limit
      # @return [void]
      def close(seconds = CLOSE_MAX)
        @closed = true
        @session&.close(seconds) if @session&.here?
      end

      # @return [Hash{Symbol => Integer}] counts of this process: messages :waiting; :sent (Redis has confirmed them); :refused (the queue was
      #   full, or the engine closed); :uncertain (at the end Redis may have received them or not); :failed (Redis answered with an error, or
      #   closed the connection); :lost (published by others, but not received here); and the number of :outages of Redis
      def stats
        session.stats
      end

      # @return [String] without password
      def to_s
        @address.to_s
      end

      private

      # If the application occupies the loop's thread, Redis waits. Otherwise messages would be lost without notice.
      def deliver(channel, message)
        @pace.keep
        sleep(DELIVERY_PAUSE) until PubSub.deliver(channel, message) || PubSub.delivery.nil?
      end

      def change(name, match, subscribed)
        return false if !MATCHES.include?(match) || (match.nil? && reserved?(name))

        session.change(name.to_s.b, match, subscribed)
      end

      # Each engine needs this channel: an application that ends its subscription would end the engine's own.
      def reserved?(channel)
        channel.to_s == ReplayProtocol::CHANNEL
      end

      # A forked child needs its own session. The parent's session has the subscriptions, and messages that the parent sends.
      def session
        return @session if @session&.here?

        @lock.synchronize do
          next @session if @session&.here?

          @session = Session.new(@address, @limits, @receiver, @session&.wanted)
          @session.close(0) if @closed
          @session
        end
      end
    end
  end
end
