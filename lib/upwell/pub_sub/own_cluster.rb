# frozen_string_literal: true

module Upwell
  module PubSub
    # The engine that reaches the workers of this server, this one among them.
    class OwnCluster
      # @return [#call, nil] given the channel and the message, brings them to all workers; nil: there is no other. The server sets it
      attr_accessor :carrier
      # @return [#call, nil] of what {#stats} returns. The server sets it
      attr_writer :counts

      # @return [true] they are known
      def subscribe(_channel, _match = nil)
        true
      end

      # @return [true]
      def unsubscribe(_channel, _match = nil)
        true
      end

      # Of this process, while it serves.
      #
      # @return [Hash{Symbol => Integer}] messages :published here or heard from others, and of these, once for each subscriber, :delivered and
      #   :dropped; what there is now: :channels, :patterns, :subscribers, and :peers, the other processes; messages to these, once for each,
      #   :peers_sent and :peers_dropped, and from them :peers_received
      def stats
        @counts ? @counts.call : {}
      end

      # @param channel [String]
      # @param message [String]
      # @return [Boolean]
      def publish(channel, message)
        carrier ? carrier.call(channel, message) != false : PubSub.deliver(channel, message)
      end
    end
  end
end
