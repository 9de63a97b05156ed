# frozen_string_literal: true

require "monitor"
require "set"

module Upwell
  module PubSub
    # The registered engines, the default engine, and the subscriptions of this process. Any thread may call these methods. A forked child
    # inherits the parent's engines, and each engine notices the fork itself.
    class Engines
      # @param default [Object] the default engine until another is set
      # @param here [Object] the engine `false`
      def initialize(default, here)
        @own = default
        @here = here
        @chosen = nil
        @registered = []
        @subscriptions = Set.new
        @lock = Monitor.new # reentrant: an engine may call these methods while it is called
      end

      # @see PubSub.publish
      def publish(channel, message, engine = nil)
        raise TypeError, "a message must be a String, not #{message.class}" unless message.is_a?(String)

        engine = default if engine.nil?
        (engine || @here).publish(channel.to_s, message) ? true : false
      end

      # @return [Object]
      def default
        @chosen || @own
      end

      # @return [Boolean] whether there are engines other than those of the server itself
      def others?
        @registered.any? { |engine| !engine.equal?(@own) && !engine.equal?(@here) }
      end

      # @return [Boolean] whether a default engine was set
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
          next if registered?(engine)

          @registered = [*@registered, engine]
          tell_all(engine)
        end
        engine
      end

      # @see PubSub.unregister
      def unregister(engine)
        @lock.synchronize do
          next unless registered?(engine)

          @registered = @registered.reject { |other| other.equal?(engine) }
          @chosen = nil if @chosen.equal?(engine)
          @subscriptions.to_a.each { |name, match| tell(engine, name, match, false) }
        end
        engine
      end

      # @see PubSub.reset
      def reset(engine)
        @lock.synchronize { tell_all(engine) }
        engine
      end

      # Records that a name has got its first subscriber in this process, or lost its last one, and reports the change to the engines.
      #
      # @param name [String] channel or pattern
      # @param match [Symbol, nil] the kind of pattern
      # @param subscribed [Boolean]
      # @return [Boolean] whether the change was new
      def changed(name, match, subscribed)
        @lock.synchronize do
          next false unless subscribed ? @subscriptions.add?([name, match]) : @subscriptions.delete?([name, match])

          told = false
          @registered.each { |engine| tell(engine, name, match, subscribed) if due?(engine, name, match, subscribed) }
          told = true
        ensure
          take_back(name, match) if subscribed && told == false
        end
      end

      # Applies a complete list, after too many changes for single reports.
      #
      # @param changes [Array<Array(String, Symbol, Boolean)>] see {#changed}: all current subscriptions, as changes from none
      # @return [void]
      def catch_up(changes)
        now = changes.to_h { |name, match, subscribed| [[name, match], subscribed] }.select { |_, subscribed| subscribed }
        @lock.synchronize do
          @subscriptions.reject { |key| now.key?(key) }.each { |name, match| changed(name, match, false) }
          now.each_key { |name, match| changed(name, match, true) }
        end
      end

      # Removes all subscriptions of this process.
      #
      # @return [void]
      def forget_subscriptions
        @lock.synchronize { @subscriptions.to_a.each { |name, match| changed(name, match, false) } }
      end

      private

      def registered?(engine)
        @registered.any? { |other| other.equal?(engine) }
      end

      # An engine called earlier may have removed this engine, or ended the subscription.
      def due?(engine, name, match, subscribed)
        registered?(engine) && @subscriptions.include?([name, match]) == subscribed
      end

      # The caller was interrupted, so the subscription has no subscriber. The engines get an unsubscription.
      def take_back(name, match)
        @subscriptions.delete([name, match])
        @registered.each { |engine| tell(engine, name, match, false) }
      end

      def tell_all(engine)
        @subscriptions.to_a.each { |name, match| tell(engine, name, match, true) if due?(engine, name, match, true) }
      end

      # An engine's error must not stop the server or affect the other engines.
      def tell(engine, name, match, subscribed)
        subscribed ? engine.subscribe(name, match) : engine.unsubscribe(name, match)
      rescue StandardError, ScriptError, SystemExit => e
        ExceptionLog.report(e, nil)
      end
    end
  end
end
