# frozen_string_literal: true

require "digest"
require "action_cable/subscription_adapter/base"
require "action_cable/subscription_adapter/channel_prefix"
require "action_cable/subscription_adapter/subscriber_map"
require "upwell"
require "upwell/action_cable/subscribers"

# This module is the namespace of Rails' Action Cable.
module ActionCable
  # Rails looks up subscription adapters in this namespace.
  module SubscriptionAdapter
    # The Action Cable adapter `upwell` (config/cable.yml). Broadcasts reach the clients of all workers through the server's own
    # publish/subscribe, without another service.
    class Upwell < Base
      prepend ChannelPrefix

      def initialize(server)
        super
        @subscribers = ::Upwell::ActionCable::Subscribers.new(logger)
      end

      # Publishes a message to all subscribers of a channel.
      #
      # @param channel [String]
      # @param payload [String] encoded
      def broadcast(channel, payload)
        publisher.publish(short(channel), payload)
      end

      # Subscribes a callback to a channel.
      #
      # @param channel [String]
      # @param callback [#call] with each message
      # @param success_callback [#call, nil] called once the subscription exists
      def subscribe(channel, callback, success_callback = nil)
        @subscribers.add_subscriber(short(channel), callback, success_callback)
      end

      # Removes the subscription of a callback.
      #
      # @param channel [String]
      # @param callback [#call] that was subscribed
      def unsubscribe(channel, callback)
        @subscribers.remove_subscriber(short(channel), callback)
      end

      # Ends all subscriptions.
      def shutdown
        @subscribers.close
        @connection&.close
      end

      private

      # A process without a server (a job process, for example) publishes through `url`: Redis or a directory, as in the setting `pubsub`.
      def publisher
        url = server.config.cable["url"]
        return ::Upwell if url.nil? || ::Upwell::PubSub.delivery

        @connection || server.mutex.synchronize { @connection ||= ::Upwell::PubSub.connect(url) }
      end

      # The publisher and the subscriber shorten names with this method.
      def short(name)
        name.bytesize > ::Upwell::PubSub::CHANNEL_BYTES_MAX ? Digest::SHA256.hexdigest(name) : name
      end
    end
  end
end
