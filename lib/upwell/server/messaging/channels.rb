# frozen_string_literal: true

require_relative "../../pub_sub"

module Upwell
  class Server
    module Messaging
      # Connects this process's publish/subscribe to its reactor while the reactor runs, and reports subscription changes to the engines.
      class Channels
        # @param reactor [Reactor]
        def initialize(reactor)
          @reactor = reactor
        end

        # Connects them. The serving process calls this method before the reactor runs.
        def begin
          PubSub.delivery = @reactor.method(:deliver)
          PubSub::CLUSTER.carrier = @reactor.method(:publish)
          PubSub::CLUSTER.counts = @reactor.method(:channel_stats)
          PubSub.listeners.begin(@reactor)
          @feed = Thread.new { feed }
          @feed.name = "upwell channels"
        end

        # Disconnects them, after the reactor has ended.
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

        # A slow engine delays all others. If too many changes wait, only their total is kept.
        def tell_engines(changes, whole)
          return changes.each { |change| PubSub.engines.changed(*change) } unless whole

          report_slow_engine unless @told_slow || !PubSub.engines.others?
          PubSub.engines.catch_up(changes)
        end

        def report_slow_engine
          @told_slow = true
          Log.tell("publish/subscribe: the methods subscribe and unsubscribe of an engine are slow, so the engine learns only the latest " \
                   "subscriptions; make these methods faster")
        end
      end
    end
  end
end
