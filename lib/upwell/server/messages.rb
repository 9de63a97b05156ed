# frozen_string_literal: true

require_relative "../pub_sub"
require_relative "rack_pub_sub"

module Upwell
  class Server
    # What brings the messages of this process to other servers, and theirs here, as configured. The application was loaded: an engine that it
    # has chosen stays, and its own version of the gem is used.
    class Messages
      # @param target [String, nil] the setting `pubsub`
      # @raise [ConfigurationError] when the gem redis-client is missing
      def initialize(target)
        return if target.nil? || PubSub.engines.default? || !PubSub::Redis::Address.match?(target)

        @engine = PubSub::Redis.new(target)
      rescue ArgumentError, LoadError => e
        raise ConfigurationError, "pubsub: #{e.message}"
      end

      # In the process that serves.
      def begin
        PubSub.default = @engine.start if @engine
      end

      # Sends what waits. Another server in this process makes an engine of its own: a closed one serves nobody.
      def end
        return unless @engine

        @engine.close
        PubSub.unregister(@engine)
      end
    end
  end
end
