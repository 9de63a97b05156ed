# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../exception_log"
require_relative "../../log"
require_relative "replay_protocol"
require_relative "message_head"
require_relative "publish_history"

module Upwell
  module PubSub
    class Redis
      # The publishing thread. It sends several messages before it reads their answers. After a lost connection it sends unconfirmed messages
      # again: receivers recognize them by number. It repeats confirmed messages for a receiver that asks for them.
      class Publisher
        WINDOW = 64 # messages without an answer
        ATTEMPTS_MAX = 5 # attempts to send a message alone: Redis may close the connection because of its length
        IDLE = 1 # seconds, after which a PING checks the connection before messages are sent
        ANSWERED_MAX = 100 # stored requests
        POSITION_PAUSE = 1 # seconds between position messages

        # A request of another engine: messages after a number, or since a time.
        Request = Struct.new(:name, :after, :since)

        # @return [Hash{Symbol => Integer}] see {Redis#stats}
        attr_reader :counts
        # @return [Integer] the number of the last message that Redis may have received
        attr_reader :written

        # @param name [String] of this engine
        # @param link [Reconnection]
        # @param outbox [PublishQueue]
        # @param history [PublishHistory]
        # @param subscriber [Subscriber] this process's subscriber; it receives the messages that follow its subscription
        def initialize(name, link, outbox, history, subscriber)
          @name = name
          @link = link
          @outbox = outbox
          @history = history
          @subscriber = subscriber
          @counts = { sent: 0, failed: 0 }
          @connection = nil
          @window = WINDOW
          @written = @position = 0
          @introduced = false
          @requests = {}
          @answered = []
          @lock = Mutex.new
        end

        # Sends until the outbox is closed and empty.
        def run
          connect
          while (batch = @outbox.first(@window, (POSITION_PAUSE if untold?)))
            work(batch) if batch.any? || @requests.any? || !@introduced || position_due?
          end
        rescue StandardError => e # an unexpected error; the next message opens a new connection
          ExceptionLog.report(e, nil)
          disconnect
          sleep(Reconnection::PAUSE_MAX)
          retry
        ensure
          disconnect # also when the thread is killed: its successor must not start within a command or between answers
        end

        # Requests a repetition of messages. A request replaces an earlier one of the same engine. A further request for the same connection is
        # ignored, because confirmed messages are already being sent. Any thread may call this method.
        #
        # @param name [String] ENGINE.CONNECTION
        # @param after [Integer, nil] the number of the last message that the engine has received
        # @param since [Float, nil] without a number: the time since which messages may be missing
        def repeat(name, after: nil, since: nil)
          @lock.synchronize do
            next if @answered.include?(name)

            @requests[name[/\A\h+/]] = Request.new(name, after, since)
            @requests.shift if @requests.size > ReceivedNumbers::PUBLISHERS_MAX
          end
          @outbox.wake
        end

        # Requests that the position is sent again. Any thread may call this method.
        def introduce
          @introduced = false
          @outbox.wake
        end

        # Closes the connection. Another thread calls this method when this thread has ended.
        def disconnect
          connection = @connection
          @connection = nil
          connection&.close
        end

        private

        def connect
          return if @connection

          @connection = @link.open
          @subscriber.doubt if @used # there was an earlier connection
          @used = Clock.now
        end

        def work(batch)
          connect
          try_out if Clock.now - @used > IDLE || @link.doubtful?
          tell_position unless @introduced
          answer_requests
          send_batch(batch) if batch.any?
          tell_position if position_due?
          @used = Clock.now
        rescue RedisClient::Error => e
          disconnect
          @introduced = false
          @link.lost(e)
          leave_out(e)
        end

        # Redis may close the connection because of one message. The publisher sends messages one by one to find that message and skip it.
        def leave_out(error)
          @window = 1
          message = @alone
          @alone = nil
          return if message.nil? || NotReadyErrors.match?(error)

          message.attempts += 1
          count(error, message) if message.attempts >= ATTEMPTS_MAX
        end

        def try_out
          exchange([["PING"]])
          @link.proven
        end

        def send_batch(batch)
          @subscriber.await(batch.last.changes)
          @written = [@written, batch.last.number].max
          left = batch.dup
          @alone = (batch.first if batch.one?)
          exchange(batch.map { |message| publication(message) }) { |answer| count(answer, left.shift) }
          @position = batch.last.number
          @window = WINDOW
          @alone = nil
        end

        # @param request [String, nil] the request for a repetition
        def publication(message, request = nil)
          ["PUBLISH", message.channel, MessageHead.new(@name, message.number, request).join(message.text)]
        end

        # Writes commands, and reads the answer to each.
        #
        # @yieldparam answer [Object] of Redis
        def exchange(commands)
          commands.each { |command| @connection.write(*command) }
          commands.each do
            answer = @connection.read(Address::TIMEOUT) || raise(RedisClient::ReadTimeoutError, "no answer within #{Address::TIMEOUT} s")
            yield answer if block_given?
          end
        end

        def count(answer, message)
          @outbox.remove(1)
          unless answer.is_a?(RedisClient::Error)
            @history.add(message, Clock.now)
            return @counts[:sent] += 1
          end

          @counts[:failed] += 1
          tell = @failure != answer.message
          Log.tell("publish/subscribe: Redis rejects a message, which is lost: #{answer.message}; correct Redis's settings or ACL") if tell
          @failure = answer.message
        end

        # The next methods send positions.

        def untold?
          @told != @position || !@introduced || @requests.any?
        end

        def position_due?
          @told != @position && Clock.now - @told_at.to_f >= POSITION_PAUSE
        end

        # With the position, a receiver that was not subscribed to a channel does not ask for old messages of this publisher.
        def tell_position
          @introduced = true
          exchange([ReplayProtocol.command("position", @name, @position)])
          @told = @position
          @told_at = Clock.now
        end

        # The next methods repeat messages.

        def answer_requests
          @lock.synchronize { @requests.to_a }.each do |engine, request|
            repeat_for(request.name, request.after || @history.before(request.since))
            @lock.synchronize { answered(engine, request.name) }
          end
        end

        def answered(engine, name)
          @requests.delete(engine) if @requests[engine]&.name == name
          @answered << name
          @answered.shift if @answered.size > ANSWERED_MAX
        end

        def repeat_for(request, number)
          exchange([ReplayProtocol.command("begin", @name, request, @history.forgotten, number)])
          @history.after(number).each_slice(WINDOW) do |messages|
            exchange(messages.map { |message| publication(message, request) })
          end
          exchange([ReplayProtocol.command("end", @name, request)])
        end
      end
    end
  end
end
