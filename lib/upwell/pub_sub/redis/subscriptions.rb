# frozen_string_literal: true

require "set"

module Upwell
  module PubSub
    class Redis
      # What a process wants to hear of, what Redis was told of it on this connection, and what is to be told. Not for two threads at once.
      class Subscriptions
        NAMES_MAX = 500 # in a command
        COMMANDS = { [nil, true] => "SUBSCRIBE", [nil, false] => "UNSUBSCRIBE",
                     [:redis, true] => "PSUBSCRIBE", [:redis, false] => "PUNSUBSCRIBE" }.freeze

        # @return [Set<Array(String, Symbol)>]
        attr_reader :wanted
        # @return [Integer] changes so far
        attr_reader :changes

        # @param wanted [Enumerable]
        def initialize(wanted)
          @wanted = Set.new(wanted)
          @told = Set.new
          @untold = @wanted.dup
          @changes = 0
        end

        # @param name [String]
        # @param match [Symbol, nil]
        # @param subscribed [Boolean]
        def change(name, match, subscribed)
          key = [name, match]
          return unless subscribed ? @wanted.add?(key) : @wanted.delete?(key)

          @changes += 1
          @told.include?(key) == subscribed ? @untold.delete(key) : @untold.add(key)
        end

        # A new connection knows of none.
        def forget
          @told.clear
          @untold = @wanted.dup
        end

        # @return [Boolean]
        def untold?
          @untold.any?
        end

        # @return [Array<Array<String>>] commands; from now on Redis counts as told
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
