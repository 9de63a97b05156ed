# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../error_log"
require_relative "../../log"

module Upwell
  module PubSub
    class Redis
      # The thread that publishes. Some messages are on their way at once. When the connection is lost then, nobody knows what became of those
      # that Redis has not confirmed: they are counted and not sent again, for nobody shall have a message twice. All others are kept.
      class Publisher
        WINDOW = 64 # messages on their way
        ATTEMPTS_MAX = 5 # to write a message: Redis may end the connection for its length
        IDLE = 1 # seconds, after which the connection is tried before it is trusted with messages

        # @return [Hash{Symbol => Integer}] see {Redis#stats}
        attr_reader :counts

        # @param link [Link]
        # @param outbox [Outbox]
        # @param subscriber [Subscriber] of this process: it shall hear what is published after it has subscribed
        def initialize(link, outbox, subscriber)
          @link = link
          @outbox = outbox
          @subscriber = subscriber
          @counts = { sent: 0, uncertain: 0, failed: 0 }
          @connection = nil
        end

        # Sends until the outbox is closed and empty.
        def run
          connect
          while (batch = @outbox.first(WINDOW))
            send_batch(batch)
          end
        rescue StandardError => e # by mistake; the next message begins anew
          ErrorLog.report(e, nil)
          disconnect
          sleep(Link::PAUSE_MAX)
          retry
        ensure
          disconnect # also when the thread is killed: the next one must not go on in the midst of a command, or of answers
        end

        # By another thread, when this one has ended.
        def disconnect
          connection = @connection
          @connection = nil
          connection&.close
        end

        private

        def connect
          return if @connection

          @connection = @link.open
          @subscriber.doubt if @used # there was one before
          @used = Clock.now
        end

        def send_batch(batch)
          connect
          try_out if Clock.now - @used > IDLE || @link.doubtful?
          @subscriber.await(batch.last.changes)
          transmit(batch)
          @used = Clock.now
        rescue RedisClient::Error => e
          disconnect
          @link.lost(e)
          leave_out(e)
        end

        # Others are behind it.
        def leave_out(error)
          count(error) if @outbox.peek&.attempts.to_i >= ATTEMPTS_MAX
        end

        def try_out
          @connection.write("PING")
          answer
          @link.proven
        end

        # One that could not be written to its end is none that Redis could obey.
        def transmit(batch)
          unconfirmed = 0
          batch.each do |message|
            message.attempts += 1
            @connection.write("PUBLISH", message.channel, message.text)
            unconfirmed += 1
          end
          while unconfirmed.positive?
            count(answer)
            unconfirmed -= 1
          end
        ensure
          give_up(unconfirmed) if unconfirmed.positive?
        end

        # @return [Object] what Redis said
        def answer
          @connection.read(Address::TIMEOUT) || raise(RedisClient::ReadTimeoutError, "no answer for #{Address::TIMEOUT} s")
        end

        def count(answer)
          @outbox.remove(1)
          return @counts[:sent] += 1 unless answer.is_a?(RedisClient::Error)

          @counts[:failed] += 1
          Log.tell("publish/subscribe: Redis does not publish: #{answer.message}") if @failure != answer.message
          @failure = answer.message
        end

        def give_up(unconfirmed)
          @outbox.remove(unconfirmed)
          @counts[:uncertain] += unconfirmed
        end
      end
    end
  end
end
