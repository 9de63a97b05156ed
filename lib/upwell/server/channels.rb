# frozen_string_literal: true

require_relative "../pub_sub"

module Upwell
  class Server
    # Joins publish and subscribe of this process to its reactor, while that serves; and tells the engines who is subscribed.
    class Channels
      # @param reactor [Reactor]
      def initialize(reactor)
        @reactor = reactor
      end

      # In the process that serves, before the reactor runs.
      def begin
        PubSub.delivery = @reactor.method(:deliver)
        PubSub::CLUSTER.carrier = @reactor.method(:publish)
        PubSub::CLUSTER.counts = @reactor.method(:channel_stats)
        PubSub.listeners.begin(@reactor)
        @feed = Thread.new { feed }
        @feed.name = "upwell channels"
      end

      # The reactor has ended.
      def end
        @feed&.kill&.join
        PubSub.listeners.end
        PubSub.engines.forget_subscriptions
        PubSub.delivery = PubSub::CLUSTER.carrier = PubSub::CLUSTER.counts = nil
      end

      private

      def feed
        while (news = @reactor.await_channel_changes)
          tell_engines(*news)
        end
      end

      # One that takes its time for each keeps all others waiting, and at last more has changed than is kept.
      def tell_engines(changes, whole)
        return changes.each { |change| PubSub.engines.changed(*change) } unless whole

        Log.tell("publish/subscribe: an engine was too slow to hear of each subscription: it is told what has changed in all") unless @told_slow
        @told_slow = true
        PubSub.engines.catch_up(changes)
      end
    end
  end
end
