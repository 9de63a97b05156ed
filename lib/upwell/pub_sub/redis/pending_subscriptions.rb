# frozen_string_literal: true

require "set"

module Upwell
  module PubSub
    class Redis
      # The wanted subscriptions, those that Redis knows on this connection, and the difference. Only one thread at a time may use it.
      class PendingSubscriptions
        NAMES_MAX = 500 # per command
        COMMANDS = { [nil, true] => "SUBSCRIBE", [nil, false] => "UNSUBSCRIBE",
                     [:redis, true] => "PSUBSCRIBE", [:redis, false] => "PUNSUBSCRIBE" }.freeze

        # @return [Set<Array(String, Symbol)>]
        attr_reader :wanted
        # @return [Integer] the number of changes so far
        attr_reader :changes

        # @param wanted [Enumerable]
        def initialize(wanted)
          @wanted = Set.new(wanted)
          @told = Set.new
          @untold = @wanted.dup
          @changes = 0
        end

        # Records a subscription or its end.
        #
        # @param name [String]
        # @param match [Symbol, nil]
        # @param subscribed [Boolean]
        def change(name, match, subscribed)
          key = [name, match]
          return unless subscribed ? @wanted.add?(key) : @wanted.delete?(key)

          @changes += 1
          @told.include?(key) == subscribed ? @untold.delete(key) : @untold.add(key)
        end

        # Resets the state, because Redis knows no subscriptions on a new connection.
        def forget
          @told.clear
          @untold = @wanted.dup
        end

        # @return [Boolean]
        def untold?
          @untold.any?
        end

        # @return [Array<Array<String>>] the commands for Redis, which count as sent from now on
        def take
          groups = @untold.group_by { |key| COMMANDS.fetch([key.last, @wanted.include?(key)]) }
          @untold.each { |key| @wanted.include?(key) ? @told.add(key) : @told.delete(key) }
          @untold = Set.new
          groups.flat_map { |command, keys| keys.map(&:first).each_slice(NAMES_MAX).map { |names| [command, *names] } }
        end
      end
    end
  end
end
