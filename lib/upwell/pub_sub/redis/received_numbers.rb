# frozen_string_literal: true

require_relative "../../clock"

module Upwell
  module PubSub
    class Redis
      # The last received number of each publisher. A message with a received number is a duplicate. After a lost connection each publisher is
      # asked to repeat the later messages. Until the repetition ends, new messages are skipped, because they are repeated in order, too. An
      # unknown publisher may have started meanwhile: it is asked for its messages since the connection was last known to work.
      class ReceivedNumbers
        PUBLISHERS_MAX = 1000 # above this, the publisher with the oldest message is forgotten
        RETRY = 0.5 # seconds between rounds: each round asks silent publishers again, because their own connections may have been lost
        ROUNDS_MAX = 60 # rounds without an answer before a publisher is given up: it may have ended

        DELAY_MAX = 5 # seconds that a request may take to reach a publisher
        SETTLED = 30 # seconds after which each publisher has received the requests of a connection

        # A publisher that was asked: the rounds of its last sign and of the last request, the number of its last skipped message, and, for an
        # unknown publisher, the time since which its messages may be missing.
        Asked = Struct.new(:sign, :requested, :last, :since)

        # @return [Integer] messages that this process is known to have missed
        attr_reader :lost

        # @param name [String] of this engine
        def initialize(name)
          @name = name
          @connections = 0
          @since = Clock.now - DELAY_MAX # earlier messages were received, or are older than this process
          @numbers = {}
          @asked = {}
          @silent = {}
          @lost = @round = 0
          @lock = Mutex.new
        end

        # Begins a new connection. Messages may be missing, unless this is the first connection and Redis was reachable.
        #
        # @param outage [Boolean] whether Redis was unreachable
        # @return [void]
        def connect(outage: false)
          @lock.synchronize do
            @connections += 1
            @connected = Clock.now
            @publication = nil
            @ask_all = @missed = outage || @connections > 1
            @numbers.each_key { |publisher| ask(publisher) }
          end
        end

        # Records that all messages before a time were received on this connection. A short connection proves nothing, because some publishers
        # may not have received its request.
        #
        # @param moment [Float]
        # @return [void]
        def proven(moment)
          @lock.synchronize { @since = moment - SETTLED if moment - SETTLED > @connected }
        end

        # @return [Boolean] whether an unknown publisher was met since the last call, so that a request is due
        def met_unknown?
          @met && @lock.synchronize { @met.tap { @met = false } }
        end

        # @return [Boolean] whether an answer of a publisher is awaited
        def asking?
          @lock.synchronize { @asked.any? }
        end

        # Ends a round: Redis has answered a PING behind the last request, so all messages that it had before were received.
        #
        # @return [void]
        def round_passed
          @lock.synchronize { @round += 1 }
        end

        # @return [Array<String>, nil] the request that is due: its name, and the starts of the publishers
        def request
          @lock.synchronize do
            give_up
            due = @asked.select { |_, asked| asked.requested.nil? || @round > [asked.sign, asked.requested].max }
            next if due.empty? && !@ask_all

            due.each_value { |asked| asked.requested = @round }
            [request_name, *due.flat_map { |publisher, asked| starts(publisher, asked) }, *start_of_all]
          end
        end

        # Gives up all requests, because Redis forbids them.
        #
        # @return [void]
        def ask_nobody
          @lock.synchronize do
            @asked.clear
            @ask_all = @missed = false
          end
        end

        # Decides whether a message is delivered.
        #
        # @param head [MessageHead]
        # @param pattern [String, nil] of the subscription
        # @return [Boolean] whether the message is new here, and in order
        def take?(head, pattern)
          @lock.synchronize do
            meet(head.publisher, head.number - 1) unless head.request || head.number <= 1
            asked = @asked[head.publisher]
            next false unless head.request ? asked && head.request == request_name : asked.nil? || leave_out(asked, head)

            asked&.sign = @round
            new?(head, pattern)
          end
        end

        # Records the position of a publisher.
        #
        # @return [void]
        def position(publisher, number)
          @lock.synchronize do
            meet(publisher, number) if number.positive?
            keep(publisher, number) unless @asked[publisher] || @silent[publisher] || number < @numbers.fetch(publisher, 0)
          end
        end

        # Records that a publisher begins to repeat.
        #
        # @param gone [Integer] the number of the last message that the publisher does not keep
        # @param from [Integer, nil] the number after which it repeats; older engines do not send it
        # @return [void]
        def begin_repeat(publisher, request, gone, from = nil)
          answered(publisher, request, from) do |asked|
            asked.sign = @round
            begin_unknown(publisher, asked, from) if asked.since && from
            missed = gone - @numbers[publisher]
            next unless missed.positive?

            @lost += missed
            @numbers[publisher] = gone
          end
        end

        # Records that a publisher has repeated all messages.
        #
        # @return [void]
        def end_repeat(publisher, request)
          answered(publisher, request) { @asked.delete(publisher) }
        end

        private

        def request_name
          "#{@name}.#{@connections}"
        end

        def ask(publisher)
          asked = @asked[publisher] ||= Asked.new(nil, nil, 0)
          asked.sign = @round
          asked.requested = nil
          asked
        end

        # An unknown publisher that has published before is asked to repeat the messages that are missing.
        def meet(publisher, number)
          return if @numbers.key?(publisher) || !missed?

          keep(publisher, number)
          ask(publisher).since = @since
          @met = true
        end

        # If a publisher was forgotten since then, it would repeat messages that were received.
        def missed?
          @missed && (@forgotten.nil? || @forgotten < @since)
        end

        # Older engines understand only numbers.
        def starts(publisher, asked)
          ["#{publisher}=#{@numbers[publisher]}", *("#{publisher}<#{seconds_since(asked.since)}" if asked.since)]
        end

        def start_of_all
          "*<#{seconds_since(@since)}" if @ask_all && missed?
        ensure
          @ask_all = false
        end

        def seconds_since(moment)
          format("%.3f", Clock.now - moment)
        end

        def answered(publisher, request, from = nil)
          @lock.synchronize do
            next unless request == request_name

            meet(publisher, from) if from
            (asked = @asked[publisher]) && yield(asked)
          end
        end

        def begin_unknown(publisher, asked, from)
          @numbers[publisher] = [@numbers[publisher], from].min
          asked.since = nil
        end

        # @return [false]
        def leave_out(asked, head)
          asked.last = [asked.last, head.number].max
          false
        end

        # Redis delivers a publication once for its channel, and once for each matching pattern.
        def new?(head, pattern)
          publication = [head.publisher, head.number]
          return told_for?(publication, pattern) if head.number <= @numbers.fetch(head.publisher, 0)

          @lost += head.number - @numbers[head.publisher] - 1 if @silent.delete(head.publisher)
          keep(*publication)
          @publication = publication
          @patterns = [pattern]
          true
        end

        def told_for?(publication, pattern)
          return false if pattern.nil? || publication != @publication || @patterns.include?(pattern)

          @patterns << pattern
          true
        end

        def keep(publisher, number)
          @numbers.delete(publisher)
          @numbers[publisher] = number
          forget(@numbers.first.first) if @numbers.size > PUBLISHERS_MAX
        end

        def forget(publisher)
          @forgotten = Clock.now
          [@numbers, @asked, @silent].each { |table| table.delete(publisher) }
        end

        # The publisher's next message shows how many messages are missing.
        def give_up
          @asked.delete_if do |publisher, asked|
            next false if @round - asked.sign < ROUNDS_MAX

            missed = asked.last - @numbers[publisher]
            next @silent[publisher] = true unless missed.positive?

            @lost += missed
            @numbers[publisher] = asked.last
          end
        end
      end
    end
  end
end
