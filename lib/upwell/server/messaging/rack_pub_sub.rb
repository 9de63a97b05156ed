# frozen_string_literal: true

require_relative "../../pub_sub"

# Publish/subscribe under the names of Rack's draft. The methods exist while Upwell serves.
module Rack
  # @see Upwell::PubSub
  module PubSub
    class << self
      # @see Upwell::PubSub.publish
      # @return [Boolean]
      def publish(channel, message, engine = nil)
        Upwell::PubSub.publish(channel, message, engine)
      end

      # @see Upwell.subscribe
      # @return [Upwell::Subscription]
      def subscribe(channel, is_pattern = nil, match: nil, handler: nil, **, &block)
        Upwell.subscribe(channel, is_pattern, match: match, handler: handler, &block)
      end

      # @see Upwell::PubSub.register
      def pubsub_register(engine)
        Upwell::PubSub.register(engine)
      end

      # @return [Object] see {Upwell::PubSub.default}
      def pubsub_default
        Upwell::PubSub.default
      end

      # @see Upwell::PubSub.default=
      def pubsub_default=(engine)
        Upwell::PubSub.default = engine
      end

      # @see Upwell::PubSub.reset
      def pubsub_reset(engine)
        Upwell::PubSub.reset(engine)
      end
    end
  end
end
