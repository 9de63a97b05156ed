# backtick_javascript: true
# frozen_string_literal: true

require "upwell/pile"

module Upwell
  module Runtime
    class Node
      # What is written to one of Node's streams. Node keeps each piece that its client has not taken by itself, which takes far more room than
      # the bytes of a small one: beyond some of them they wait here.
      class Outlet
        KEPT_BYTES = 65_536 # by Node

        # @param stream [JavaScript Writable]
        def initialize(stream)
          @stream = stream
          @pile = Pile.new
          @full = false
          `stream.on("drain", () => #{go_on})`
        end

        # @param data [JavaScript String, JavaScript Uint8Array]
        # @return [void]
        def write(data)
          return @pile.add(`typeof data === "string" ? Buffer.from(data) : data`) if @full

          give(data)
        end

        # @yield once nothing waits here
        # @return [void]
        def finish(&emptied)
          @pile.empty? ? emptied.call : @emptied = emptied
        end

        # @return [Integer] bytes that the client has not taken
        def behind
          `self.stream.writableLength + #{@pile.size}`
        end

        private

        def give(data)
          `self.stream.write(data)`
          @full = `self.stream.writableLength` > KEPT_BYTES
        end

        def go_on
          @full = false
          give(@pile.take(KEPT_BYTES)) until @full || @pile.empty?
          return unless @emptied && @pile.empty?

          emptied = @emptied
          @emptied = nil
          emptied.call
        end
      end
    end
  end
end
