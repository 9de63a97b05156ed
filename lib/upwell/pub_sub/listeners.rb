# frozen_string_literal: true

require "set"
require_relative "../subscription"

module Upwell
  module PubSub
    # What this process listens to by {Upwell.subscribe}: from the moment on in which it serves. Any thread may ask.
    class Listeners
      # One of them, and what the reactor knows it by.
      Listener = Struct.new(:name, :match, :callable, :ear)

      def initialize
        @listeners = Set.new.compare_by_identity
        @reactor = nil
        @lock = Mutex.new
      end

      # @param name [String] channel or pattern
      # @param match [Symbol, nil]
      # @param callable [#call] with the channel and the message
      # @return [Subscription]
      # @raise [ArgumentError] for another `match`, or too long a name
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
        reactor.unlisten(listener.ear) if reactor && listener.ear
      end

      # This process serves: in a worker, who was there before it was forked listens, too.
      #
      # @param reactor [Reactor]
      def begin(reactor)
        listeners = @lock.synchronize { (@reactor = reactor) && @listeners.to_a }
        listeners.each { |listener| listen(reactor, listener) }
      end

      # It does not any more.
      def end
        @lock.synchronize { @reactor = nil }
      end

      private

      # As the reactor does, which may not be there yet.
      def check(name, match)
        raise ArgumentError, "match must be nil or :redis, not #{match.inspect}" unless [nil, :redis].include?(match)
        return if name.bytesize <= (match ? PATTERN_BYTES_MAX : CHANNEL_BYTES_MAX)

        raise ArgumentError, "a channel's name has at most #{CHANNEL_BYTES_MAX} bytes, a pattern #{PATTERN_BYTES_MAX}"
      end

      # Without the lock: it may wait for the loop. Whoever has ended it meanwhile could not yet. A reactor that has ended gives no ear: who
      # listens then is there for the next one.
      def listen(reactor, listener)
        told = tell_engines(listener, true)
        listener.ear = reactor.listen_to(listener.name, listener.match, listener.callable)
        reactor.unlisten(listener.ear) unless listener.ear.nil? || @lock.synchronize { @listeners.include?(listener) }
      ensure
        tell_engines(listener, false) if told && !listener.ear
      end

      # Before the reactor does it: what is published next then waits for an engine's own subscription. What comes of it, a refusal perhaps, the
      # reactor tells.
      def tell_engines(listener, subscribed)
        PubSub.engines.changed(listener.name.dup.force_encoding(Encoding::UTF_8), listener.match, subscribed)
      end
    end
  end
end
