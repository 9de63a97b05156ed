# frozen_string_literal: true

require_relative "pub_sub/engines"
require_relative "pub_sub/listeners"
require_relative "pub_sub/own_cluster"
require_relative "pub_sub/own_process"

module Upwell
  # Messages on channels: who publishes, and by which engine they travel.
  #
  #     Upwell::PubSub.default = Upwell::PubSub::Redis.new("redis://10.0.0.5")
  #     Upwell::PubSub.publish("news", "hello")
  #
  # An engine is any object with `subscribe(channel, match)`, `unsubscribe(channel, match)` and `publish(channel, message)`, all of which return
  # whether it does so. What it hears of others it hands to {.deliver}.
  module PubSub
    CHANNEL_BYTES_MAX = 1024 # of a name: core/push/channels.h
    PATTERN_BYTES_MAX = 255 # core/push/glob.h

    # This process alone: the engine `false`.
    PROCESS = OwnProcess.new
    # The workers of this server: the default.
    CLUSTER = OwnCluster.new

    unless RUBY_ENGINE == "opal" # which has no sockets
      autoload :Redis, "upwell/pub_sub/redis"
      at_exit { Redis::Session.close_all unless autoload?(:Redis) } # after those of the application, which may publish
      autoload :Connection, "upwell/pub_sub/connection"
    end

    @engines = Engines.new(CLUSTER, PROCESS)
    @listeners = Listeners.new

    class << self
      # @return [Engines] those of this process
      attr_reader :engines
      # @return [Listeners] likewise
      attr_reader :listeners

      # @return [#call, nil] given the channel and the message of what the subscribers of this process shall have; nil in one that does not
      #   serve, also when it was forked from one that does
      def delivery
        @delivery if @process == Process.pid
      end

      # @param delivery [#call, nil] the server sets it
      def delivery=(delivery)
        @process = Process.pid
        @delivery = delivery
      end

      # Publishes by an engine.
      #
      # @param channel [String, Symbol]
      # @param message [String]
      # @param engine [Object, false, nil] nil: the default one; false: the subscribers of this process alone
      # @return [Boolean] whether it is on its way
      def publish(channel, message, engine = nil)
        engines.publish(channel, message, engine)
      end

      # Has a block called with what is published, in this process.
      #
      # @see Upwell.subscribe
      # @return [Subscription]
      def subscribe(channel, match: nil, handler: nil, &block)
        callable = block || handler
        raise ArgumentError, "a block or a handler is needed" unless callable

        listeners.subscribe(channel.to_s, match, callable)
      end

      # Gives a message to the subscribers of this process alone. What an engine does with what it hears.
      #
      # @param channel [String]
      # @param message [String]
      # @return [Boolean] whether it was taken
      def deliver(channel, message)
        here = delivery
        here ? here.call(channel, message) != false : false
      end

      # @param engine [Object] is told of all subscriptions of this process, those there are and those to come
      # @return [Object] the engine
      def register(engine)
        engines.register(engine)
      end

      # @param engine [Object] is told that the subscriptions end, and then of none any more; were it the default, {CLUSTER} is from now on
      # @return [Object] the engine
      def unregister(engine)
        engines.unregister(engine)
      end

      # @return [Object] the engine of who names none
      def default
        engines.default
      end

      # @param engine [Object, false, nil] is registered, too; nil: {CLUSTER}, false: {PROCESS}
      def default=(engine)
        engines.default = engine
      end

      # @param engine [Object] is told of all subscriptions there are, as if it had just been registered
      # @return [Object] the engine
      def reset(engine)
        engines.reset(engine)
      end

      # Connects another process, a Rake task for example, to the subscribers of a server.
      #
      # @param target [String] what the server's setting `pubsub` is: redis://, rediss:// or unix: for Redis, else a folder, which need not
      #   be there yet
      # @return [Connection, FolderConnection]
      # @raise [ArgumentError] when it is the URL of something else
      # @raise [LoadError] when the gem redis-client is missing
      def connect(target)
        Connection.open(target)
      end
    end
  end
end
