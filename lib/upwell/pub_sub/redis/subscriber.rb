# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../error_log"
require_relative "../../log"
require_relative "subscriptions"

module Upwell
  module PubSub
    class Redis
      # The thread that hears what is published ({#run}), and its helper, which tells Redis what to say ({#run_teller}): one waits for Redis, the
      # other for this process. Behind each change a PING is sent, with its own number and the change's: at its answer Redis knows of it.
      class Subscriber
        HEARTBEAT = 5 # seconds between signs of life that are asked for
        SILENCE_MAX = 15 # seconds in which none, nor a message, has come to its end: the connection is dead
        DOUBT_MAX = 1 # the same, when another connection was lost
        PATIENCE = 5 # seconds that a message waits for its publisher's own subscriptions

        # @param link [Link]
        # @param receiver [#call, #forget] see {Redis#initialize}
        # @param wanted [Enumerable] what is subscribed to already
        def initialize(link, receiver, wanted)
          @link = link
          @receiver = receiver
          @subscriptions = Subscriptions.new(wanted)
          @confirmed = 0
          @pings = @oldest = 0 # how many were sent, and the first that counts
          @lock = Mutex.new
          @changed = ConditionVariable.new # for the helper
          @told = ConditionVariable.new # for who awaits
        end

        # @param name [String]
        # @param match [Symbol, nil]
        # @param subscribed [Boolean]
        def change(name, match, subscribed)
          @lock.synchronize do
            @subscriptions.change(name, match, subscribed)
            @changed.signal
          end
        end

        # @return [Integer] changes so far
        def changes
          @subscriptions.changes
        end

        # @return [Array<Array(String, Symbol)>]
        def wanted
          @lock.synchronize { @subscriptions.wanted.to_a }
        end

        # Another connection was lost, and this one may be dead without knowing: it is asked, and messages wait for its answer.
        def doubt
          @lock.synchronize do
            next unless @connection

            @confirmed = 0
            @doubted = true
            @changed.signal
          end
        end

        # Waits, not for long, and only once, until Redis knows of that many changes.
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

        # Hears, until it is finished.
        def run
          listen(begin_with(@link.open)) until @finished
        rescue RedisClient::Error => e
          end_connection
          @link.lost(e)
          retry
        rescue StandardError, ScriptError => e # by mistake
          ErrorLog.report(e, nil)
          end_connection
          sleep(Link::PAUSE_MAX)
          retry
        ensure
          end_connection
        end

        # Tells, for ever.
        def run_teller
          loop do
            connection, commands, number, changes = await_change
            tell(connection, [*commands, ["PING", "#{number} #{changes}"]])
          end
        end

        # From now on nobody waits for it, and nothing begins anew.
        def finish
          @lock.synchronize do
            @finished = true
            @told.broadcast
          end
        end

        # When these have ended, by another thread; or by the receiver, who is called by one of them.
        def disconnect
          @connection&.close
          @connection = nil
        end

        private

        def begin_with(connection)
          @lock.synchronize do
            @subscriptions.forget
            @waits_since = @asked = nil
            @doubted = false
            @connection = connection
            @changed.signal
          end
          connection
        end

        # What Redis knew it has forgotten, if it was told of anything.
        def end_connection
          @lock.synchronize do
            @confirmed = 0
            disconnect
          end
        end

        def listen(connection)
          forget
          until @finished
            @waits_since = Clock.now
            event = connection.read(0) # however long it takes: of half an event the rest would be misunderstood
            @waits_since = nil # who receives may take its time
            hear(event)
          end
        end

        def hear(event)
          case event
          when Array then hear_push(*event)
          when String then confirm(*event.split.map(&:to_i))
          when RedisClient::Error then Log.tell("publish/subscribe: Redis does not subscribe: #{event.message}")
          end
        end

        def hear_push(kind, *parts)
          case kind
          when "message" then receive(nil, *parts)
          when "pmessage" then receive(*parts)
          else forget
          end
        end

        # Who receives may fail, and others come after.
        def receive(pattern, channel, message)
          @receiver.call(pattern, *[channel, message].map { |bytes| text(bytes) })
        rescue StandardError, ScriptError => e
          ErrorLog.report(e, nil)
        end

        # Redis does not say what was text: what can be is.
        def text(bytes)
          text = bytes.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? text : text.force_encoding(Encoding::BINARY)
        end

        def forget
          @receiver.forget if @receiver.respond_to?(:forget)
        end

        # What was sent before the connection was doubted may have been answered long ago.
        def confirm(number, changes)
          @lock.synchronize do
            next if @doubted || number < @oldest

            @confirmed = changes
            @asked = nil
            @told.broadcast
          end
        end

        # @return [Array(Wire, Array<Array<String>>, Integer, Integer)] no command: nothing was said for a while, or the connection is doubted
        def await_change
          @lock.synchronize do
            @changed.wait(@lock, @asked ? DOUBT_MAX : HEARTBEAT) unless @connection && (@doubted || @subscriptions.untold?)
            @changed.wait(@lock) until @connection
            @pings += 1
            ask if @doubted
            [@connection, @subscriptions.take, @pings, changes]
          end
        end

        def ask
          @asked = Clock.now
          @oldest = @pings
          @doubted = false
        end

        # A failure ends the connection, so that the other thread has it made anew.
        def tell(connection, commands)
          check_silence(@waits_since, @asked)
          commands.each { |command| connection.write(*command) }
        rescue RedisClient::Error => e
          connection.close(e.message)
        end

        def check_silence(since, asked)
          seconds = asked ? DOUBT_MAX : SILENCE_MAX
          return unless since && Clock.now - [since, asked].compact.max >= seconds

          raise RedisClient::ReadTimeoutError, "silent for #{seconds} s"
        end
      end
    end
  end
end
