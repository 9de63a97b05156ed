# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../log"
require_relative "link"
require_relative "outages"
require_relative "outbox"
require_relative "publisher"
require_relative "subscriber"

module Upwell
  module PubSub
    class Redis
      # What a process has of an engine: its threads, begun when there is something for them to do, and its connections.
      class Session
        END_MAX = 0.5 # seconds for a thread to end: one that resolves a name may take longer

        @open = [] # of this process, or a parent's
        @lock = Mutex.new

        class << self
          # @param session [Session] is there from now on
          def opened(session)
            @lock.synchronize { @open = [*@open.select(&:here?), session] }
          end

          # @param session [Session] is not any more
          def closed(session)
            @lock.synchronize { @open -= [session] }
          end

          # This process ends, whoever began them; and nobody begins any more.
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
        # @param wanted [Array, nil] what the parent process had subscribed to
        def initialize(address, limits, receiver, wanted)
          @process = Process.pid
          @outages = Outages.new(address)
          @outbox = Outbox.new(*limits)
          @subscriber = Subscriber.new(Link.new(address, @outages), receiver, wanted || [])
          @publisher = Publisher.new(Link.new(address, @outages), @outbox, @subscriber)
          @threads = {}
          @lock = Mutex.new
          Session.opened(self)
        end

        # @return [Boolean] whether it belongs to this process
        def here?
          @process == Process.pid
        end

        # @return [Array] what is subscribed to
        def wanted
          @subscriber.wanted
        end

        # @return [Boolean]
        def publish(channel, text)
          start_publisher
          @outbox.push(Outbox::Message.new(channel, text, @subscriber.changes, 0))
        end

        # @return [Boolean]
        def change(name, match, subscribed)
          @subscriber.change(name, match, subscribed)
          start_subscriber
          true
        end

        # See {Redis#start}.
        def start
          start_publisher
          start_subscriber unless wanted.empty?
        end

        # See {Redis#close}.
        def close(seconds)
          @outbox.close
          @subscriber.finish
          send_rest(Clock.now + seconds)
          @lock.synchronize { @closed = true }
          Session.closed(self)
          end_threads
          [@publisher, @subscriber].each(&:disconnect)
          left = @outbox.abandon
          Log.tell("publish/subscribe: #{left} messages are lost: Redis did not take them in time") if left.positive?
        end

        # See {Redis#stats}.
        def stats
          { waiting: @outbox.size, refused: @outbox.refused, lost: @outages.count, **@publisher.counts }
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

            @threads[name]&.join # it was killed, and may be ending yet
            @threads[name] = Thread.new(&work).tap { |thread| thread.name = "upwell redis #{name}" }
          end
        end

        def runs?(name)
          thread = @threads[name]
          %w[run sleep].include?(thread&.status) || thread == Thread.current
        end

        # The thread for that may have been killed.
        def send_rest(deadline)
          while @outbox.size.positive? && (left = deadline - Clock.now).positive?
            start_publisher
            @threads[:publisher].join(left)
          end
        end

        # The one of a subscriber's block that closes ends by itself.
        def end_threads
          others = @threads.values - [Thread.current]
          others.each(&:kill)
          others.each { |thread| thread.join(END_MAX) }
        end
      end
    end
  end
end
