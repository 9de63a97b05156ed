# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../exception_log"
require_relative "../../log"
require_relative "replay_protocol"
require_relative "subscriber_events"
require_relative "ping_rounds"
require_relative "pending_subscriptions"

module Upwell
  module PubSub
    class Redis
      # The thread that receives messages ({#run}), and its helper that sends commands ({#run_teller}): one waits for Redis, the other for this
      # process. Each change is followed by a PING with two numbers: its own and the change's. The answer proves that Redis knows the change.
      class Subscriber
        HEARTBEAT = 5 # seconds between requested signs of life
        SILENCE_MAX = 15 # seconds without a complete event after which the connection is dead
        DOUBT_MAX = 1 # seconds without a sign, when another connection was lost
        PATIENCE = 5 # seconds that a message waits for its publisher's own subscriptions

        # @param link [Reconnection]
        # @param receiver [#call, #forget] see {Redis#initialize}
        # @param wanted [Enumerable] the initial subscriptions
        # @param heard [ReceivedNumbers]
        # @param engine [Session] handles requests of other engines, see {SubscriberEvents}
        def initialize(link, receiver, wanted, heard, engine)
          @link = link
          @heard = heard
          @rounds = PingRounds.new(heard)
          @events = SubscriberEvents.new(receiver, heard, engine)
          @subscriptions = PendingSubscriptions.new(wanted)
          @confirmed = 0
          @pings = @oldest = 0 # the number of sent PINGs, and the first whose answer counts
          @lock = Mutex.new
          @changed = ConditionVariable.new # for the helper
          @told = ConditionVariable.new # for {#await}
        end

        # Records a subscription or its end.
        #
        # @param name [String]
        # @param match [Symbol, nil]
        # @param subscribed [Boolean]
        def change(name, match, subscribed)
          @lock.synchronize do
            @subscriptions.change(name, match, subscribed)
            @changed.signal
          end
        end

        # @return [Integer] the number of changes so far
        def changes
          @subscriptions.changes
        end

        # @return [Array<Array(String, Symbol)>]
        def wanted
          @lock.synchronize { @subscriptions.wanted.to_a }
        end

        # Checks the connection with a PING, because another connection was lost. Messages wait for the answer.
        def doubt
          @lock.synchronize do
            next unless @connection

            forget_confirmation
            @doubted = true
            @changed.signal
          end
        end

        # Waits until Redis knows this many changes. Only the first call waits the full time.
        #
        # @param changes [Integer]
        def await(changes)
          deadline = Clock.now + PATIENCE
          @lock.synchronize do
            until @finished || @confirmed >= changes
              left = deadline - Clock.now
              break @confirmed = changes unless left.positive?

              @told.wait(@lock, left)
            end
          end
        end

        # Receives events until {#finish}.
        def run
          listen(begin_with(@link.open)) until @finished
        rescue RedisClient::Error => e
          end_connection
          @link.lost(e)
          retry
        rescue StandardError, ScriptError => e # an unexpected error
          ExceptionLog.report(e, nil)
          end_connection
          sleep(Reconnection::PAUSE_MAX)
          retry
        ensure
          end_connection
        end

        # Sends commands without end.
        def run_teller
          loop do
            connection, commands, number, changes = await_change
            tell(connection, [*commands, ["PING", "#{number} #{changes}"]])
          end
        end

        # Ends all waits, and prevents reconnection.
        def finish
          @lock.synchronize do
            @finished = true
            @told.broadcast
          end
        end

        # Closes the connection, once both threads have ended. The caller is another thread, or the receiver on one of these threads.
        def disconnect
          @connection&.close
          @connection = nil
        end

        private

        def begin_with(connection)
          @heard.connect(outage: @link.outage?)
          @lock.synchronize do
            @subscriptions.forget
            @waits_since = @asked = nil
            @rounds.forget
            @doubted = @greeted = false
            @connection = connection
            @changed.signal
          end
          connection
        end

        # Redis forgets the subscriptions of a closed connection.
        def end_connection
          @lock.synchronize do
            forget_confirmation
            disconnect
          end
        end

        # If other engines repeat missed messages, no message has to wait for the new subscriptions.
        def forget_confirmation
          @confirmed = 0 unless @events.repeated?
        end

        def listen(connection)
          @events.begin
          until @finished
            @waits_since = Clock.now
            event = connection.read(0) # no time-out: after part of an event the rest would be misread
            @waits_since = nil # the receiver may take any time
            handle_event(event)
          end
        end

        def handle_event(event)
          return confirm(*event.split.map(&:to_i)) if event.is_a?(String)

          @events.handle_event(event)
          @lock.synchronize { @changed.signal } if @heard.met_unknown?
        end

        # Answers to earlier PINGs may have been sent before the doubt, so they do not count.
        def confirm(number, changes)
          @lock.synchronize do
            @rounds.answered(number)
            next if @doubted || number < @oldest

            @confirmed = changes
            @asked = nil
            @told.broadcast
          end
        end

        # @return [Array(Connection, Array<Array<String>>, Integer, Integer)] no commands: only a PING is due, after silence or in doubt
        def await_change
          @lock.synchronize do
            @changed.wait(@lock, pause) unless @connection && (@doubted || !@greeted || @subscriptions.untold?)
            @changed.wait(@lock) until @connection
            @pings += 1
            ask if @doubted
            [@connection, commands, @pings, changes]
          end
        end

        def pause
          return ReceivedNumbers::RETRY if @heard.asking?

          @asked ? DOUBT_MAX : HEARTBEAT
        end

        # The repetition starts once all subscriptions are active.
        def commands
          request = @rounds.begin(@pings)
          greeting = [["SUBSCRIBE", ReplayProtocol::CHANNEL]] unless @greeted
          @greeted = true
          [*greeting, *@subscriptions.take, *([ReplayProtocol.command("repeat", *request)] if request)]
        end

        def ask
          @asked = Clock.now
          @oldest = @pings
          @doubted = false
        end

        # A failure closes the connection, so that the other thread opens a new one.
        def tell(connection, commands)
          check_silence(@waits_since, @asked)
          commands.each { |command| connection.write(*command) }
        rescue RedisClient::Error => e
          connection.close(e.message)
        end

        def check_silence(since, asked)
          seconds = asked ? DOUBT_MAX : SILENCE_MAX
          return unless since && Clock.now - [since, asked].compact.max >= seconds

          raise RedisClient::ReadTimeoutError, "no answer within #{seconds} s"
        end
      end
    end
  end
end
