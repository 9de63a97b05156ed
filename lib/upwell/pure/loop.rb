# frozen_string_literal: true

require_relative "loop/watch"
require_relative "stats"
require_relative "waiter"

module Upwell
  module Pure
    # {Upwell::Loop} on `IO.select`, where there is no extension. The methods are described there.
    class Loop
      EVENTS_PER_TURN = 1024 # delivered before the loop has a turn, however many are waiting

      Emitted = Struct.new(:key)
      private_constant :EVENTS_PER_TURN, :Emitted

      # @return [String] "select"
      attr_reader :backend

      # @param backend [String, Symbol, nil] "select"
      # @raise [Upwell::BackendError] for any other
      def initialize(backend: nil)
        @backend = Pure.backend(backend)
        @waiter = Waiter.new
        @lock = Mutex.new # of the watches: `stop` and `signal`, for trap handlers, do without
        @watches = {}
        @events = Thread::Queue.new
        @delivered = 0
        @stopped = false
        Stats.count(self)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if it has waited in this process
      def stats_here
        return unless @waiter.used?

        timed, ios = @watches.values.partition(&:deadline)
        { loops: 1, watches: timed.size + ios.size, descriptors: ios.size, operations: ios.count(&:waits?), timers: timed.count(&:waits?) }
      end

      # @return [Object, nil]
      def next_event
        event = nil
        until event
          turn_if_due
          return if @events.empty?

          event = take
        end
        event.key
      end

      # @yieldparam key [Object]
      # @return [self, Enumerator]
      def each
        return enum_for unless block_given?

        @stopped = false
        until @stopped
          turn_if_due
          @events.size.times do
            event = take
            yield event.key if event
          end
        end
        self
      end

      # @return [self]
      def watch_io(key, io, write, oneshot)
        io = io.to_io
        raise IOError, "closed stream" if io.closed?

        watch(Watch.new(key, io, write, nil, nil, !oneshot))
      end

      # @return [self]
      def watch_fd(key, file_descriptor, write, oneshot)
        watch(Watch.new(key, IO.for_fd(file_descriptor, autoclose: false), write, nil, nil, !oneshot))
      end

      # @return [self]
      def watch_timer(key, duration, interval = 0)
        duration, interval = [duration, interval].map { |time| Pure.seconds(time) }
        watch(Watch.new(key, nil, nil, Pure.now + duration, interval, interval.positive?))
      end

      # @return [self]
      def unwatch(key)
        @lock.synchronize { @watches.delete(key)&.ended = true }
        @waiter.interrupt
        self
      end

      # @return [Object]
      def emit(key, *others)
        [key, *others].each { |each_key| each_key == :stop ? stop : @events << Emitted.new(each_key) }
        @waiter.interrupt
        key
      end

      # @return [self]
      def signal
        @waiter.wake
        self
      end

      # @return [self]
      def stop
        @stopped = true
        @waiter.wake # the next wait too: `each` may have looked already and not begun to wait
        self
      end

      private

      def watch(watch)
        @lock.synchronize do
          other = @watches[watch.key]
          if other&.live? && (other.recurring || !other.fired)
            raise "the key #{watch.key.inspect} is watched already: unwatch it first, or give another"
          end

          @watches[watch.key] = watch
        end
        @waiter.interrupt
        self
      end

      def turn_if_due
        turn if @events.empty? || @delivered >= EVENTS_PER_TURN
      end

      def turn
        @delivered = 0
        @waiter.occupy do
          idle = idle_watches
          ready = @waiter.select(*ios(idle), timeout(idle))
          timed, others = ready_of(idle, ready, Pure.now).partition(&:deadline)
          fire(others + timed.sort_by(&:deadline))
        end
      end

      def ready_of(idle, ready, now)
        readable, writable = ready.first(2).map { |ios| Pure.by_identity(ios) }
        idle.select { |watch| watch.ready?(readable, writable, now) }
      end

      def idle_watches
        @lock.synchronize do
          @watches.delete_if { |_, watch| !watch.live? }
          @watches.values.reject(&:fired)
        end
      end

      def ios(watches)
        writers, readers = watches.select(&:io).partition(&:write)
        [readers.map(&:io), writers.map(&:io)]
      end

      def timeout(watches)
        return 0 unless @events.empty?

        deadline = watches.filter_map(&:deadline).min
        deadline && [deadline - Pure.now, 0].max
      end

      # All or, when something is raised into the thread, none: who has fired and is no event would wait for ever.
      def fire(watches)
        Pure.uninterrupted { watches.each { |watch| @events << watch.fire(@waiter.unusable) } }
      end

      # The next event; nil when it was taken back meanwhile, or when another thread was first.
      def take
        event = done = nil
        Pure.uninterrupted { event = shift }
        taken = delivered(event)
        done = true
        taken
      ensure
        put_back(event) if event && !done # a time-out throws, or raises, and a thread may be killed
      end

      def shift
        @delivered += 1
        @events.shift(true)
      rescue ThreadError
        nil # there is none
      end

      def delivered(event)
        event if event.nil? || event.is_a?(Emitted) || @lock.synchronize { deliver(event) }
      end

      # Behind the others; or, if it has gone on already, so that it comes again.
      def put_back(event)
        if event.is_a?(Emitted)
          @events << event
        elsif event.fired
          @events << event
          @lock.synchronize { @watches[event.key] ||= event }
        elsif event.deadline
          event.deadline -= event.interval
        end
        @waiter.interrupt
      end

      def deliver(watch)
        live = watch.live?
        if live && watch.recurring
          watch.go_on(Pure.now)
          @waiter.interrupt # who has begun to wait meanwhile, in another thread, does so without it
        elsif @watches[watch.key].equal?(watch)
          @watches.delete(watch.key)
        end
        live
      end
    end
  end
end
