# frozen_string_literal: true

require "securerandom"
require_relative "../../clock"
require_relative "../../log"
require_relative "received_numbers"
require_relative "reconnection"
require_relative "outages"
require_relative "publish_queue"
require_relative "publisher"
require_relative "subscriber"

module Upwell
  module PubSub
    class Redis
      # The state of an engine in one process: its connections and its threads, which start on first use.
      class Session
        END_MAX = 0.5 # seconds for a thread to end; name resolution may take longer

        @open = [] # sessions of this process or its parent
        @lock = Mutex.new

        class << self
          # Adds a session.
          #
          # @param session [Session]
          def opened(session)
            @lock.synchronize { @open = [*@open.select(&:here?), session] }
          end

          # Removes a session.
          #
          # @param session [Session]
          def closed(session)
            @lock.synchronize { @open -= [session] }
          end

          # Closes all sessions of this process at its exit.
          def close_all
            deadline = Clock.now + CLOSE_MAX
            while (session = @open.find(&:here?))
              session.close([deadline - Clock.now, 0].max)
            end
          end
        end

        # @param address [Address]
        # @param limits [Array(Integer, Integer)] of the outbox
        # @param receiver [#call]
        # @param wanted [Array, nil] the parent process's subscriptions
        def initialize(address, limits, receiver, wanted)
          @process = Process.pid
          @outages = Outages.new(address)
          @outbox = PublishQueue.new(*limits)
          @name = SecureRandom.hex(8)
          @heard = ReceivedNumbers.new(@name)
          @subscriber = Subscriber.new(Reconnection.new(address, @outages), receiver, wanted || [], @heard, self)
          @publisher = Publisher.new(@name, Reconnection.new(address, @outages), @outbox, PublishHistory.new(*limits), @subscriber)
          @uncertain = 0
          @threads = {}
          @lock = Mutex.new
          Session.opened(self)
        end

        # @return [Boolean] whether the session belongs to this process
        def here?
          @process == Process.pid
        end

        # @return [Array] the subscriptions
        def wanted
          @subscriber.wanted
        end

        # Publishes a message, see {Redis#publish}.
        #
        # @return [Boolean]
        def publish(channel, text)
          start_publisher
          start_subscriber # it receives requests to repeat the message
          @outbox.push(PublishQueue::Message.new(channel, text, @subscriber.changes, 0))
        end

        # Records a subscription or its end.
        #
        # @return [Boolean]
        def change(name, match, subscribed)
          @subscriber.change(name, match, subscribed)
          start_subscriber
          true
        end

        # Starts the threads, see {Redis#start}.
        def start
          start_publisher
          start_subscriber unless wanted.empty?
        end

        # Ends the session, see {Redis#close}.
        def close(seconds)
          @outbox.close
          @subscriber.finish
          send_rest(Clock.now + seconds)
          @lock.synchronize { @closed = true }
          Session.closed(self)
          end_threads
          [@publisher, @subscriber].each(&:disconnect)
          left, uncertain = @outbox.abandon(@publisher.written)
          @uncertain += uncertain
          tell_dropped(left) if left.positive?
        end

        # Returns the counts, see {Redis#stats}.
        def stats
          { waiting: @outbox.size, refused: @outbox.refused, uncertain: @uncertain, lost: @heard.lost, outages: @outages.count,
            **@publisher.counts }
        end

        # Handles another engine's request to repeat messages.
        #
        # @param request [String]
        # @param fields [Array<String>] see {ReplayProtocol}
        def repeat(request, fields)
          return unless @outbox.used?

          if (seconds = ReplayProtocol.seconds_for(@name, fields))
            @publisher.repeat(request, since: Clock.now - seconds)
          elsif (number = ReplayProtocol.number_for(@name, fields))
            @publisher.repeat(request, after: number)
          end
          start_publisher
        end

        # Sends the position, because other engines may have asked while this one was not subscribed.
        def introduce
          return unless @outbox.used?

          @publisher.introduce
          start_publisher
        end

        private

        def start_publisher
          start_thread(:publisher) { @publisher.run }
        end

        def start_subscriber
          start_thread(:subscriber) { @subscriber.run }
          start_thread(:teller) { @subscriber.run_teller }
        end

        def start_thread(name, &work)
          return if runs?(name)

          @lock.synchronize do
            next if @closed || runs?(name)

            @threads[name]&.join # it was killed, and may still be ending
            @threads[name] = Thread.new(&work).tap { |thread| thread.name = "upwell redis #{name}" }
          end
        end

        def runs?(name)
          thread = @threads[name]
          %w[run sleep].include?(thread&.status) || thread == Thread.current
        end

        # The publisher's thread may have been killed.
        def send_rest(deadline)
          while @outbox.size.positive? && (left = deadline - Clock.now).positive?
            start_publisher
            @threads[:publisher].join(left)
          end
        end

        def tell_dropped(count)
          Log.tell("publish/subscribe: #{count} messages were dropped at the stop, because Redis did not accept them in time; check Redis")
        end

        # If a subscriber's block calls close, its own thread ends by itself.
        def end_threads
          others = @threads.values - [Thread.current]
          others.each(&:kill)
          others.each { |thread| thread.join(END_MAX) }
        end
      end
    end
  end
end
