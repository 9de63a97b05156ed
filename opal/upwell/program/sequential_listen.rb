# backtick_javascript: true
# frozen_string_literal: true

require "upwell/program/listen_address"
require "upwell/program/bind_check"

module Upwell
  class Program < Command
    # Processes addresses one after another. A free port, once found, is the same for each address.
    class SequentialListen
      # @param addresses [Array<ListenAddress>]
      # @param refused [#call] called with the error message when an address cannot be listened on, or its certificate is invalid
      def initialize(addresses, refused)
        @addresses = addresses
        @refused = refused
        @done = []
      end

      # Sets the block for each address.
      #
      # @yieldparam address [ListenAddress]
      # @yieldparam answer [#call] called with the port, or with nil and the reason
      def each(&act)
        @act = act
        self
      end

      # Processes the addresses one after another.
      #
      # @yieldparam addresses [Array<ListenAddress>] with their ports
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
      rescue ConfigurationError => e
        @refused.call(e.message)
      end

      def take(address, port, reason, others)
        if port || (address.path && !reason)
          @port = address.port = port unless address.path
          @done.push(address)
        else
          return @refused.call(address.cannot(reason)) unless ListenAddress.absent?(reason) && @addresses.size > 1

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
