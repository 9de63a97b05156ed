# frozen_string_literal: true

require_relative "../clock"
require_relative "../error_log"
require_relative "redis/address"
require_relative "redis/once"
require_relative "redis/session"

module Upwell
  module PubSub
    # The engine that reaches the subscribers of all processes on all machines that know the same Redis or Valkey, from version 6, by the gem
    # redis-client. It reconnects by itself. Each process has connections and threads of its own, begun when it first has a use for them.
    #
    #     Upwell::PubSub.default = Upwell::PubSub::Redis.new("rediss://:secret@redis.example.com?ca_file=/etc/ssl/redis.pem")
    #
    # What this process publishes comes back to its own subscribers by Redis, as it does to all others, and is not delivered before.
    class Redis
      MESSAGES_MAX = 10_000 # that wait for Redis
      BYTES_MAX = 16 * 1024 * 1024 # of them
      CLOSE_MAX = 1 # seconds to send what waits, at the end
      DELIVERY_PAUSE = 0.1 # seconds until a message is offered again to a process that does not take any
      MATCHES = [nil, :redis].freeze # that Redis knows: channels and its own patterns

      # @param url [String] redis://, rediss:// (TLS) or unix:; the certificates of a rediss:// are verified with the system's, or those of its
      #   parameter `ca_file` (environment: SSL_CERT_FILE)
      # @param messages_max [Integer] that may wait for Redis
      # @param bytes_max [Integer] that these may have
      # @param receiver [#call] given the pattern or nil, the channel, and the message
      # @raise [ArgumentError] when the URL is none of these
      # @raise [LoadError] when the gem redis-client is missing
      def initialize(url, messages_max: MESSAGES_MAX, bytes_max: BYTES_MAX, receiver: Once.new(method(:deliver)))
        Redis.load_client
        @address = Address.new(url)
        @limits = [messages_max, bytes_max]
        @receiver = receiver
        @lock = Mutex.new
      end

      # The gem is no dependency of Upwell's.
      #
      # @raise [LoadError]
      def self.load_client
        require "redis_client"
      rescue LoadError
        raise LoadError, "publish/subscribe by Redis needs the gem redis-client: add it to the Gemfile"
      end

      # @param channel [String]
      # @param message [String] its bytes are sent; Redis knows no encodings
      # @return [Boolean] false when as much waits for Redis as may, or after {#close}; it never waits
      def publish(channel, message)
        session.publish(channel.to_s.b, message.to_s.b)
      end

      # @param name [String] channel or pattern
      # @param match [Symbol, nil] :redis for a pattern
      # @return [Boolean] false for other ways to match
      def subscribe(name, match = nil)
        change(name, match, true)
      end

      # @see #subscribe
      def unsubscribe(name, match = nil)
        change(name, match, false)
      end

      # Connects now, and not at the first message: the log tells if it fails.
      #
      # @return [self]
      def start
        session.start
        self
      end

      # Sends what waits, and ends. So does the end of the process, for {CLOSE_MAX}.
      #
      # @param seconds [Numeric] for that
      # @return [void]
      def close(seconds = CLOSE_MAX)
        @closed = true
        @session&.close(seconds) if @session&.here?
      end

      # @return [Hash{Symbol => Integer}] of this process: messages :waiting; :sent (Redis has confirmed them); :refused (when too many waited,
      #   or at the end); :uncertain (the connection was lost after they were written and before Redis confirmed them: they are not sent again);
      #   :failed (Redis answered with an error, or ended the connection at them); and :lost, how many times Redis was
      def stats
        session.stats
      end

      # @return [String] without password
      def to_s
        @address.to_s
      end

      private

      # While the application keeps the loop's thread for itself Redis waits, rather than that messages are lost unseen.
      def deliver(channel, message)
        sleep(DELIVERY_PAUSE) until PubSub.deliver(channel, message) || PubSub.delivery.nil?
      end

      def change(name, match, subscribed)
        return false unless MATCHES.include?(match)

        session.change(name.to_s.b, match, subscribed)
      end

      # That of the parent knows what is subscribed to, and has messages that the parent sends.
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
