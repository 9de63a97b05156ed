# frozen_string_literal: true

require_relative "loop/event_taking"
require_relative "loop/io_or_timer_watch"
require_relative "object_counts"
require_relative "interruptible_select"

module Upwell
  module Pure
    # {Upwell::Loop} on `IO.select`, for Ruby without the extension. That class documents the methods.
    class Loop
      include EventTaking

      EVENTS_PER_TURN = 1024 # the limit of delivered events before the loop checks for new ones

      Emitted = Struct.new(:key)
      private_constant :EVENTS_PER_TURN, :Emitted

      # @param backend [String, Symbol, nil] "select"
      # @raise [Upwell::BackendError] for any other name
      def initialize(backend: nil)
        @backend = Pure.backend(backend)
        @select = InterruptibleSelect.new
        @lock = Mutex.new # guards the watches; `stop` and `signal` take no lock, since trap handlers call them
        @watches = {}
        @events = Thread::Queue.new
        @delivered = 0
        @stopped = false
        ObjectCounts.count(self)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if the loop has waited in this process
      def stats_here
        return unless @select.used?

        timed, ios = @watches.values.partition(&:deadline)
        { loops: 1, watches: timed.size + ios.size, descriptors: ios.size, operations: ios.count(&:waits?), timers: timed.count(&:waits?) }
      end

      # @return [String] "select"
      def backend
        check_initialized
        @backend
      end

      # @return [Object, nil]
      def next_event
        check_initialized
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
        check_initialized
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
        check_initialized
        watch(IOOrTimerWatch.new(key, ArgumentConversion.open_io(io), write, nil, nil, !oneshot))
      end

      # @return [self]
      def watch_fd(key, file_descriptor, write, oneshot)
        check_initialized
        watch(IOOrTimerWatch.new(key, io_of(file_descriptor), write, nil, nil, !oneshot))
      end

      # @return [self]
      def watch_timer(key, duration, interval = 0)
        check_initialized
        duration = ArgumentConversion.seconds(duration, "the duration")
        interval = ArgumentConversion.seconds(interval, "the interval")
        watch(IOOrTimerWatch.new(key, nil, nil, Pure.now + duration, interval, interval.positive?))
      end

      # @return [self]
      def unwatch(key)
        check_initialized
        @lock.synchronize { @watches.delete(key)&.ended = true }
        @select.interrupt
        self
      end

      # @return [Object]
      def emit(key, *others)
        check_initialized
        [key, *others].each { |each_key| each_key == :stop ? stop : @events << Emitted.new(each_key) }
        @select.interrupt
        key
      end

      # @return [self]
      def signal
        check_initialized
        @select.wake
        self
      end

      # @return [self]
      def stop
        check_initialized
        @stopped = true
        @select.wake # this also ends the next wait: `each` may have checked the flag already and not begun to wait
        self
      end

      private

      def check_initialized
        raise Error, "the loop is not initialized: a subclass must call super in initialize" unless @select
      end

      def io_of(file_descriptor)
        IO.for_fd(file_descriptor, autoclose: false)
      rescue Errno::EBADF
        raise Errno::EBADF, "cannot watch descriptor #{file_descriptor}, which is not open"
      end

      def watch(watch)
        @lock.synchronize do
          other = @watches[watch.key]
          if other&.live? && (other.recurring || !other.fired)
            raise "the key #{watch.key.inspect} is watched already: unwatch it first, or use another key"
          end

          @watches[watch.key] = watch
        end
        @select.interrupt
        self
      end

      def turn_if_due
        turn if @events.empty? || @delivered >= EVENTS_PER_TURN
      end

      def turn
        @delivered = 0
        @select.occupy do
          idle = idle_watches
          ready = @select.select(*ios(idle), timeout(idle))
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

      # All watches fire, or none when an exception interrupts: a fired watch without an event would wait without end.
      def fire(watches)
        Pure.uninterrupted { watches.each { |watch| @events << watch.fire(@select.unusable) } }
      end
    end
  end
end
