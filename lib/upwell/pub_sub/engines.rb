# frozen_string_literal: true

require "monitor"
require "set"

module Upwell
  module PubSub
    # Which engines there are, which of them is the default, and what this process subscribes to. Any thread may ask. A child process begins with
    # what its parent had: the engines themselves know that they are in another process.
    class Engines
      # @param default [Object] the engine until another is chosen
      # @param here [Object] the engine `false`
      def initialize(default, here)
        @own = default
        @here = here
        @chosen = nil
        @registered = []
        @subscriptions = Set.new
        @lock = Monitor.new # an engine may ask while it is told
      end

      # @see PubSub.publish
      def publish(channel, message, engine = nil)
        engine = default if engine.nil?
        (engine || @here).publish(channel.to_s, message) ? true : false
      end

      # @return [Object]
      def default
        @chosen || @own
      end

      # @return [Boolean] whether somebody has said which
      def default?
        !@chosen.nil?
      end

      # @see PubSub.default=
      def default=(engine)
        engine = @here if engine == false
        @lock.synchronize do
          @chosen = engine
          register(engine) if engine
        end
      end

      # @see PubSub.register
      def register(engine)
        @lock.synchronize do
          next if @registered.any? { |other| other.equal?(engine) }

          @registered = [*@registered, engine]
          tell_all(engine)
        end
        engine
      end

      # @see PubSub.unregister
      def unregister(engine)
        @lock.synchronize do
          next if @registered.none? { |other| other.equal?(engine) }

          @registered = @registered.reject { |other| other.equal?(engine) }
          @chosen = nil if @chosen.equal?(engine)
          @subscriptions.each { |name, match| tell(engine, name, match, false) }
        end
        engine
      end

      # @see PubSub.reset
      def reset(engine)
        @lock.synchronize { tell_all(engine) }
        engine
      end

      # The feed: the first subscriber of this process came, or there is none.
      #
      # @param name [String] channel or pattern
      # @param match [Symbol, nil] how a pattern is matched
      # @param subscribed [Boolean]
      # @return [Boolean] whether that was not known
      def changed(name, match, subscribed)
        @lock.synchronize do
          next false unless subscribed ? @subscriptions.add?([name, match]) : @subscriptions.delete?([name, match])

          told = false
          @registered.each { |engine| tell(engine, name, match, subscribed) }
          told = true
        ensure
          take_back(name, match) if subscribed && told == false
        end
      end

      # After more changes than could be told one by one.
      #
      # @param changes [Array<Array(String, Symbol, Boolean)>] see {#changed}: from nothing to what is subscribed to now
      # @return [void]
      def catch_up(changes)
        now = changes.to_h { |name, match, subscribed| [[name, match], subscribed] }.select { |_, subscribed| subscribed }
        @lock.synchronize do
          @subscriptions.reject { |key| now.key?(key) }.each { |name, match| changed(name, match, false) }
          now.each_key { |name, match| changed(name, match, true) }
        end
      end

      # Nobody of this process is subscribed any more.
      #
      # @return [void]
      def forget_subscriptions
        @lock.synchronize { @subscriptions.to_a.each { |name, match| changed(name, match, false) } }
      end

      private

      # Whoever asked was interrupted: some engines know of what nobody will listen to.
      def take_back(name, match)
        @subscriptions.delete([name, match])
        @registered.each { |engine| tell(engine, name, match, false) }
      end

      def tell_all(engine)
        @subscriptions.each { |name, match| tell(engine, name, match, true) }
      end

      # One engine's mistake is not to end the server, nor keep others from hearing.
      def tell(engine, name, match, subscribed)
        subscribed ? engine.subscribe(name, match) : engine.unsubscribe(name, match)
      rescue StandardError, ScriptError => e
        ErrorLog.report(e, nil)
      end
    end
  end
end
