# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # The queue of messages for Redis, with a limit. Any thread adds messages. One thread removes them, once their outcome is known.
      class PublishQueue
        # A message, with the number of earlier subscription changes, failed attempts to send it alone, its number, and the time of confirmation.
        Message = Struct.new(:channel, :text, :changes, :attempts, :number, :confirmed) do
          # @return [Integer]
          def bytes
            channel.bytesize + text.bytesize
          end
        end

        # @return [Integer] messages that were refused because the queue was full
        attr_reader :refused

        # @param messages_max [Integer]
        # @param bytes_max [Integer]
        def initialize(messages_max, bytes_max)
          @messages_max = messages_max
          @bytes_max = bytes_max
          @messages = []
          @bytes = 0
          @refused = 0
          @number = 0
          @closed = false
          @lock = Mutex.new
          @filled = ConditionVariable.new
        end

        # Adds a message.
        #
        # @param message [Message]
        # @return [Boolean] false when the queue is full
        def push(message)
          @lock.synchronize do
            next refuse unless room?(message)

            message.number = @number += 1
            @messages << message
            @bytes += message.bytes
            @filled.signal
            true
          end
        end

        # Waits for messages, or until {#wake}. The messages remain in the queue.
        #
        # @param count [Integer] the maximum
        # @param seconds [Numeric, nil] the longest wait
        # @return [Array<Message>, nil] nil when the queue is closed and empty
        def first(count, seconds = nil)
          @lock.synchronize do
            @filled.wait(@lock, seconds) unless @closed || @woken || @messages.any?
            @woken = false
            @messages.first(count) if @messages.any? || !@closed
          end
        end

        # Wakes the thread that removes messages, because it has other work.
        def wake
          @lock.synchronize do
            @woken = true
            @filled.signal
          end
        end

        # Removes the first messages.
        #
        # @param count [Integer]
        def remove(count)
          @lock.synchronize { @bytes -= @messages.shift(count).sum(&:bytes) }
        end

        # @return [Boolean] whether there ever was a message
        def used?
          @lock.synchronize { @number.positive? }
        end

        # Closes the queue, which then refuses messages.
        def close
          @lock.synchronize do
            @closed = true
            @filled.broadcast
          end
        end

        # @return [Integer]
        def size
          @lock.synchronize { @messages.size }
        end

        # Discards the remaining messages.
        #
        # @param written [Integer] the last number that Redis may have received
        # @return [Array(Integer, Integer)] the number of remaining messages, and how many of these Redis may have received
        def abandon(written)
          @lock.synchronize do
            left = @messages.size
            uncertain = @messages.count { |message| message.number <= written }
            @refused += left - uncertain
            @messages.clear
            @bytes = 0
            [left, uncertain]
          end
        end

        private

        def room?(message)
          !@closed && @messages.size < @messages_max && @bytes + message.bytes <= @bytes_max
        end

        def refuse
          @refused += 1
          false
        end
      end
    end
  end
end
