# frozen_string_literal: true

require "digest"
require "action_cable/subscription_adapter/base"
require "action_cable/subscription_adapter/channel_prefix"
require "action_cable/subscription_adapter/subscriber_map"
require "upwell"
require "upwell/action_cable/subscribers"

# Rails' own.
module ActionCable
  # Likewise.
  module SubscriptionAdapter
    # `adapter: upwell` in config/cable.yml: broadcasts reach the clients of all workers of the server, by the server's own publish and
    # subscribe, with no service beside it.
    class Upwell < Base
      prepend ChannelPrefix

      def initialize(server)
        super
        @subscribers = ::Upwell::ActionCable::Subscribers.new(logger)
      end

      # @param channel [String]
      # @param payload [String] encoded
      def broadcast(channel, payload)
        publisher.publish(short(channel), payload)
      end

      # @param channel [String]
      # @param callback [#call] with each message
      # @param success_callback [#call, nil]
      def subscribe(channel, callback, success_callback = nil)
        @subscribers.add_subscriber(short(channel), callback, success_callback)
      end

      # @param channel [String]
      # @param callback [#call] that was subscribed
      def unsubscribe(channel, callback)
        @subscribers.remove_subscriber(short(channel), callback)
      end

      # Nobody is told anything any more.
      def shutdown
        @subscribers.close
        @connection&.close
      end

      private

      # A process that serves nobody, that of jobs for one, takes what `url` names: as the server's setting `pubsub`, Redis or a folder.
      def publisher
        url = server.config.cable["url"]
        return ::Upwell if url.nil? || ::Upwell::PubSub.delivery

        @connection || server.mutex.synchronize { @connection ||= ::Upwell::PubSub.connect(url) }
      end

      # The same for a publisher and a subscriber.
      def short(name)
        name.bytesize > ::Upwell::PubSub::CHANNEL_BYTES_MAX ? Digest::SHA256.hexdigest(name) : name
      end
    end
  end
end
