# frozen_string_literal: true

require_relative "../../pub_sub"
require_relative "rack_pub_sub"

module Upwell
  class Server
    module Messaging
      # The engine that exchanges messages with other servers, as configured. The application is loaded first: an engine that it has set is
      # kept, and its own version of the gem is used.
      class Messages
        # @param target [String, nil] the setting `pubsub`
        # @raise [ConfigurationError] when the gem redis-client is missing
        def initialize(target)
          return if target.nil? || PubSub.engines.default? || !PubSub::Redis::Address.match?(target)

          @engine = PubSub::Redis.new(target)
        rescue ArgumentError, LoadError => e
          raise ConfigurationError, "pubsub: #{e.message}"
        end

        # Starts the engine in the serving process.
        def begin
          PubSub.default = @engine.start if @engine
        end

        # Sends the waiting messages and closes the engine. Another server in this process makes its own engine.
        def end
          return unless @engine

          @engine.close
          PubSub.unregister(@engine)
        end
      end
    end
  end
end
