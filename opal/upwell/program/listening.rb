# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/address"
require "upwell/program/probe"

module Upwell
  class Program < Command
    # Has something done for each address, one after another: a free port, once found, is the same for every address.
    class Listening
      # @param addresses [Array<Address>]
      # @param refused [#call] told the sentence when one cannot be listened on
      def initialize(addresses, refused)
        @addresses = addresses
        @refused = refused
        @done = []
      end

      # @yieldparam address [Address]
      # @yieldparam answer [#call] to be called with the port, or nil and the reason
      def each(&act)
        @act = act
        self
      end

      # @yieldparam addresses [Array<Address>] with their ports
      def then(&finished)
        @finished = finished
        go_on(@addresses)
      end

      private

      def go_on(rest)
        address, *others = rest
        return finish unless address

        address.port = @port if @port && address.port&.zero?
        @act.call(address, ->(port, reason) { take(address, port, reason, others) })
      end

      def take(address, port, reason, others)
        if port || (address.path && !reason)
          @port = address.port = port unless address.path
          @done.push(address)
        else
          return @refused.call(address.cannot(reason)) unless Address.absent?(reason) && @addresses.size > 1

          @last = address.cannot(reason)
        end
        go_on(others)
      end

      def finish
        @done.empty? ? @refused.call(@last) : @finished.call(@done)
      end
    end
  end
end
