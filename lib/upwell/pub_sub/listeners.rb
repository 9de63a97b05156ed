# frozen_string_literal: true

require "set"
require_relative "../subscription"

module Upwell
  module PubSub
    # The subscriptions of {Upwell.subscribe}. They are active while this process serves. Any thread may call these methods.
    class Listeners
      # A subscription, with its handle in the reactor.
      Listener = Struct.new(:name, :match, :callable, :subscription)

      def initialize
        @listeners = Set.new.compare_by_identity
        @reactor = nil
        @lock = Mutex.new
      end

      # Adds a subscription.
      #
      # @param name [String] channel or pattern
      # @param match [Symbol, nil]
      # @param callable [#call] with the channel and the message
      # @return [Subscription]
      # @raise [ArgumentError] for another `match`, or a name that is too long
      def subscribe(name, match, callable)
        check(name, match)
        listener = Listener.new(name, match, callable)
        reactor = @lock.synchronize { @listeners.add(listener) && @reactor }
        listen(reactor, listener) if reactor
        subscription = Subscription.new(self, listener, name, match)
      ensure
        end_subscription(listener) unless subscription
      end

      # @see Subscription#close
      def end_subscription(listener)
        reactor = @lock.synchronize { @listeners.delete?(listener) && @reactor }
        reactor.unlisten(listener.subscription) if reactor && listener.subscription
      end

      # Activates the subscriptions, because this process serves now. A worker also activates those that were made before its fork.
      #
      # @param reactor [Reactor]
      def begin(reactor)
        listeners = @lock.synchronize { (@reactor = reactor) && @listeners.to_a }
        listeners.each { |listener| listen(reactor, listener) }
      end

      # Deactivates the subscriptions, because this process does not serve any more.
      def end
        @lock.synchronize { @reactor = nil }
      end

      private

      # The check is the reactor's, which may not exist yet.
      def check(name, match)
        raise ArgumentError, "match must be nil or :redis, not #{match.inspect}" unless [nil, :redis].include?(match)

        kind, most = match ? ["pattern", PATTERN_BYTES_MAX] : ["channel", CHANNEL_BYTES_MAX]
        return if name.bytesize <= most

        raise ArgumentError, "the name of the #{kind} has #{name.bytesize} bytes; use at most #{most}"
      end

      # This method runs without the lock, because it may wait for the loop. A subscription that was ended meanwhile is removed at the end. A
      # reactor that has ended returns nil, and the subscription waits for the next reactor.
      def listen(reactor, listener)
        told = tell_engines(listener, true)
        listener.subscription = reactor.listen_to(listener.name, listener.match, listener.callable)
        reactor.unlisten(listener.subscription) unless listener.subscription.nil? || @lock.synchronize { @listeners.include?(listener) }
      ensure
        tell_engines(listener, false) if told && !listener.subscription
      end

      # The engines come before the reactor: later publications then wait for an engine's own subscription. The reactor reports the outcome, such
      # as a refusal.
      def tell_engines(listener, subscribed)
        PubSub.engines.changed(listener.name.dup.force_encoding(Encoding::UTF_8), listener.match, subscribed)
      end
    end
  end
end
