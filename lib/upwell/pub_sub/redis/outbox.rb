# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Messages that wait for Redis, in order, up to a bound. Any thread puts them in; one takes them out, when it knows what became of them.
      class Outbox
        # What is published, how many changes of subscriptions were before, and how often it could not be written.
        Message = Struct.new(:channel, :text, :changes, :attempts) do
          # @return [Integer]
          def bytes
            channel.bytesize + text.bytesize
          end
        end

        # @return [Integer] messages there was no room for
        attr_reader :refused

        # @param messages_max [Integer]
        # @param bytes_max [Integer]
        def initialize(messages_max, bytes_max)
          @messages_max = messages_max
          @bytes_max = bytes_max
          @messages = []
          @bytes = 0
          @refused = 0
          @closed = false
          @lock = Mutex.new
          @filled = ConditionVariable.new
        end

        # @param message [Message]
        # @return [Boolean] false when there is no room
        def push(message)
          @lock.synchronize do
            next refuse unless room?(message)

            @messages << message
            @bytes += message.bytes
            @filled.signal
            true
          end
        end

        # Waits for messages. They stay.
        #
        # @param count [Integer] at most
        # @return [Array<Message>, nil] nil when it is closed and empty
        def first(count)
          @lock.synchronize do
            @filled.wait(@lock) until @closed || @messages.any?
            @messages.first(count) if @messages.any?
          end
        end

        # @return [Message, nil] what is first now
        def peek
          @lock.synchronize { @messages.first }
        end

        # @param count [Integer] of the first
        def remove(count)
          @lock.synchronize { @bytes -= @messages.shift(count).sum(&:bytes) }
        end

        # From now on there is no room.
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

        # Nobody will send what is left.
        #
        # @return [Integer] how many these are
        def abandon
          @lock.synchronize do
            left = @messages.size
            @refused += left
            @messages.clear
            @bytes = 0
            left
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
