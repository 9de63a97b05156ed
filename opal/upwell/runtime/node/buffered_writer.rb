# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_queue"

module Upwell
  module Runtime
    class Node
      # Writes to one of Node's streams. Node stores each unsent piece separately, which needs much more memory than a small piece's bytes.
      # Beyond a limit, pieces are queued here.
      class BufferedWriter
        KEPT_BYTES = 65_536 # by Node

        # @param stream [JavaScript Writable]
        def initialize(stream)
          @stream = stream
          @queue = ByteQueue.new
          @full = false
          `stream.on("drain", () => #{go_on})`
        end

        # Writes data, or queues it.
        #
        # @param data [JavaScript String, JavaScript Uint8Array]
        # @return [void]
        def write(data)
          return @queue.add(`typeof data === "string" ? Buffer.from(data) : data`) if @full

          give(data)
        end

        # Waits until the queue is empty.
        #
        # @yield once the queue is empty
        # @return [void]
        def finish(&emptied)
          @queue.empty? ? emptied.call : @emptied = emptied
        end

        # @return [Integer] bytes that the client has not received
        def behind
          `self.stream.writableLength + #{@queue.size}`
        end

        private

        def give(data)
          `self.stream.write(data)`
          @full = `self.stream.writableLength` > KEPT_BYTES
        end

        def go_on
          @full = false
          give(@queue.take(KEPT_BYTES)) until @full || @queue.empty?
          return unless @emptied && @queue.empty?

          emptied = @emptied
          @emptied = nil
          emptied.call
        end
      end
    end
  end
end
