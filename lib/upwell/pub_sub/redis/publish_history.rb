# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # The latest messages that Redis has confirmed, up to a limit. A receiver with a lost connection asks for them. One thread uses it.
      class PublishHistory
        MARK_PAUSE = 1 # second between the stored times of forgotten messages
        MARKS_MAX = 3600

        # @return [Integer] the number of the newest forgotten message
        attr_reader :forgotten

        # @param messages_max [Integer]
        # @param bytes_max [Integer]
        def initialize(messages_max, bytes_max)
          @messages_max = messages_max
          @bytes_max = bytes_max
          @messages = []
          @bytes = 0
          @forgotten = 0
          @marks = [] # numbers of forgotten messages, with the times of their confirmation
        end

        # Adds a message.
        #
        # @param message [PublishQueue::Message]
        # @param moment [Float] the time of confirmation
        # @return [void]
        def add(message, moment)
          message.confirmed = moment
          @messages << message
          @bytes += message.bytes
          forget_first while @messages.size > @messages_max || @bytes > @bytes_max
        end

        # Finds the messages after a number.
        #
        # @param number [Integer]
        # @return [Array<PublishQueue::Message>] the messages after this number
        def after(number)
          first = @messages.bsearch_index { |message| message.number > number }
          first ? @messages.drop(first) : []
        end

        # Finds the position at a time.
        #
        # @param moment [Float]
        # @return [Integer] the number of the last message that Redis had confirmed at this time
        def before(moment)
          young = @messages.bsearch_index { |message| message.confirmed >= moment } || @messages.size
          return @messages[young - 1].number if young.positive?

          @marks.reverse_each.find { |_, confirmed| confirmed < moment }&.first || 0
        end

        private

        def forget_first
          message = @messages.shift
          @bytes -= message.bytes
          @forgotten = message.number
          mark(message.number, message.confirmed)
        end

        # Exact times for all messages would need as much memory as the messages. A time that is too early only repeats too many messages.
        def mark(number, moment)
          return if @marks.any? && moment - @marks.last.last < MARK_PAUSE

          @marks << [number, moment]
          @marks.shift if @marks.size > MARKS_MAX
        end
      end
    end
  end
end
