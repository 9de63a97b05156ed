# frozen_string_literal: true

require_relative "pub_sub/engines"
require_relative "pub_sub/listeners"
require_relative "pub_sub/cluster_engine"
require_relative "pub_sub/process_engine"

module Upwell
  # Publish/subscribe: messages on channels, and the engines that transport them.
  #
  #     Upwell::PubSub.default = Upwell::PubSub::Redis.new("redis://10.0.0.5")
  #     Upwell::PubSub.publish("news", "hello")
  #
  # An engine is any object with `subscribe(channel, match)`, `unsubscribe(channel, match)` and `publish(channel, message)`. Each method returns
  # whether the engine accepts the call. The engine passes received messages to {.deliver}.
  module PubSub
    CHANNEL_BYTES_MAX = 1024 # of a name, as in core/pub_sub/channels.h
    PATTERN_BYTES_MAX = 255 # core/pub_sub/channel_pattern.h

    # The engine for this process alone: `false`.
    PROCESS = ProcessEngine.new
    # The engine for all workers of this server: the default.
    CLUSTER = ClusterEngine.new

    unless RUBY_ENGINE == "opal" # Opal has no sockets
      autoload :Redis, "upwell/pub_sub/redis"
      at_exit { Redis::Session.close_all unless autoload?(:Redis) } # runs after the application's own at_exit blocks, which may publish
      autoload :ExternalClient, "upwell/pub_sub/external_client"
    end

    @engines = Engines.new(CLUSTER, PROCESS)
    @listeners = Listeners.new

    class << self
      # @return [Engines] the engines of this process
      attr_reader :engines
      # @return [Listeners] the subscriptions of this process
      attr_reader :listeners

      # @return [#call, nil] called with channel and message for the subscribers of this process; nil in a process that does not serve, including
      #   a child forked from a serving process
      def delivery
        @delivery if @process == Process.pid
      end

      # @param delivery [#call, nil] set by the server
      def delivery=(delivery)
        @process = Process.pid
        @delivery = delivery
      end

      # Publishes a message through an engine.
      #
      # @param channel [String, Symbol]
      # @param message [String]
      # @param engine [Object, false, nil] nil: the default engine; false: only the subscribers of this process
      # @return [Boolean] whether the message was accepted
      # @raise [TypeError] for a message that is not a String
      def publish(channel, message, engine = nil)
        engines.publish(channel, message, engine)
      end

      # Subscribes a block to the messages of a channel or pattern, in this process.
      #
      # @see Upwell.subscribe
      # @return [Subscription]
      def subscribe(channel, is_pattern = nil, match: nil, handler: nil, &block)
        callable = block || handler
        raise ArgumentError, "subscribe needs a block, or a handler that responds to call" unless callable

        listeners.subscribe(channel.to_s, match_of(is_pattern, match), callable)
      end

      # Converts the positional argument and the keyword to one kind of match.
      #
      # @param is_pattern [Boolean]
      # @param match [Symbol, nil]
      # @return [Symbol, nil]
      def match_of(is_pattern, match)
        match.nil? && is_pattern ? :redis : match
      end

      # Delivers a message to the subscribers of this process only. Engines call this method with received messages.
      #
      # @param channel [String]
      # @param message [String]
      # @return [Boolean] whether the message was accepted
      def deliver(channel, message)
        here = delivery
        here ? here.call(channel, message) != false : false
      end

      # Adds an engine.
      #
      # @param engine [Object] receives all subscriptions of this process, present and future
      # @return [Object] the engine
      def register(engine)
        engines.register(engine)
      end

      # Removes an engine. If it was the default engine, {CLUSTER} becomes the default.
      #
      # @param engine [Object] receives an unsubscription for each subscription, and no calls after that
      # @return [Object] the engine
      def unregister(engine)
        engines.unregister(engine)
      end

      # Aliases with the names of Rack's draft.
      alias attach register
      alias detach unregister

      # @return [Object] the default engine
      def default
        engines.default
      end

      # Sets and registers the default engine.
      #
      # @param engine [Object, false, nil] nil: {CLUSTER}; false: {PROCESS}
      def default=(engine)
        engines.default = engine
      end

      # Reports all subscriptions to an engine again, as on registration.
      #
      # @param engine [Object]
      # @return [Object] the engine
      def reset(engine)
        engines.reset(engine)
      end

      # Connects another process, a Rake task for example, to the subscribers of a server.
      #
      # @param target [String] the value of the server's setting `pubsub`: redis://, rediss:// or unix: for Redis, else a directory, which
      #   need not exist yet
      # @return [ExternalClient, ExternalPublisher]
      # @raise [ArgumentError] for the URL of another service
      # @raise [LoadError] when the gem redis-client is missing
      def connect(target)
        ExternalClient.open(target)
      end
    end
  end
end
