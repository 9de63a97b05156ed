# frozen_string_literal: true

module Upwell
  module PubSub
    # The engine for all workers of this server, including this one.
    class ClusterEngine
      # @return [#call, nil] called with channel and message to send them to all workers; nil: there are no others. The server sets it
      attr_accessor :carrier
      # @return [#call, nil] returns the counts of {#stats}. The server sets it
      attr_writer :counts

      # @return [true] the server knows its subscriptions
      def subscribe(_channel, _match = nil)
        true
      end

      # @return [true]
      def unsubscribe(_channel, _match = nil)
        true
      end

      # Counts this process's messages and subscribers, while it serves.
      #
      # @return [Hash{Symbol => Integer}] messages :published here or received from others, and of these, once per subscriber, :delivered and
      #   :dropped; the current :channels, :patterns, :subscribers, subscribers that are :behind (at least half of a block's queue is full), and
      #   :peers (the other processes); messages to peers, once per peer, :peers_sent and :peers_dropped, and messages from peers
      #   :peers_received
      def stats
        @counts ? @counts.call : {}
      end

      # Publishes a message to the subscribers of all workers.
      #
      # @param channel [String]
      # @param message [String]
      # @return [Boolean]
      def publish(channel, message)
        carrier ? carrier.call(channel, message) != false : PubSub.deliver(channel, message)
      end
    end
  end
end
