# frozen_string_literal: true

require_relative "object_counts"
require_relative "interruptible_select"

module Upwell
  module Pure
    # {Upwell::Selector} on `IO.select`, for Ruby without the extension. That class documents the methods.
    class Selector
      # The interest in reading, equal to IO::READABLE.
      READABLE = IO::READABLE
      # The interest in writing, equal to IO::WRITABLE.
      WRITABLE = IO::WRITABLE

      # @param backend [String, Symbol, nil] "select"
      # @raise [Upwell::BackendError] for any other name
      def initialize(backend: nil)
        @backend = Pure.backend(backend)
        @select = InterruptibleSelect.new
        @lock = Mutex.new
        @interests = {}.compare_by_identity
        @closed = @woken = false
        ObjectCounts.count(self)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if the selector has waited in this process and is not closed
      def stats_here
        return unless @select.used?

        count = @interests.size
        { loops: 1, watches: count, descriptors: count, operations: count }
      end

      # @return [String] "select"
      def backend
        check_open
        @backend
      end

      # @return [self]
      def register(io, interest)
        check_open
        interest = check_interest(ArgumentConversion.integer(interest))
        ArgumentConversion.open_io(io)
        @lock.synchronize { @interests[io] = interest }
        @select.interrupt
        self
      end

      # @return [Boolean] whether the IO was registered
      def deregister(io)
        check_open
        known = @lock.synchronize { @interests.delete(io) }
        @select.interrupt
        !known.nil?
      end

      # @return [Array<Array(IO, Integer)>, self]
      def wait(timeout = nil, &block)
        check_open
        seconds = timeout && ArgumentConversion.float(timeout)
        raise ArgumentError, "the timeout must be nil or a number of seconds, 0 or more, not #{timeout}" unless seconds.nil? || seconds >= 0

        pairs = await_pairs(seconds)
        return pairs unless block

        pairs.each { |io, events| tell(io, events, &block) }
        self
      end

      # @return [self]
      def wakeup
        check_open
        @woken = true
        @select.wake
        self
      end

      # @return [nil]
      def close
        @select&.close unless @closed
        @closed = true
        nil
      end

      # @return [Boolean]
      def closed?
        @closed ? true : false
      end

      private

      def check_open
        raise Error, "the selector is not initialized: a subclass must call super in initialize" unless @select
        raise IOError, "the selector is closed; create a new one" if @closed
      end

      def check_interest(interest)
        return interest if interest.positive? && interest.nobits?(~(READABLE | WRITABLE))

        raise ArgumentError, "the interest must be IO::READABLE, IO::WRITABLE or both, not #{interest}"
      end

      # When another thread registers or deregisters an IO, the wait starts again.
      def await_pairs(timeout)
        deadline = timeout && (Pure.now + timeout)
        loop do
          pairs = ready_pairs(deadline && [deadline - Pure.now, 0].max)
          woken = @woken
          @woken = false
          return pairs if woken || pairs.any? || (deadline && Pure.now >= deadline)
        end
      end

      def ready_pairs(timeout)
        registered = nil
        ready = @select.wait do
          registered = @lock.synchronize { @interests.delete_if { |io, _| io.to_io.closed? }.dup }
          [interested(registered, READABLE), interested(registered, WRITABLE), timeout]
        end
        readable, writable = ready.first(2).map { |ios| Pure.by_identity(ios) } # equal IOs may be different objects
        @lock.synchronize do
          registered.keys.filter_map { |io| pair(io, readable, writable) if @interests.key?(io) && !io.to_io.closed? }
        end
      end

      # IOs that the block has deregistered or closed meanwhile are not reported.
      def tell(io, events)
        wanted = @lock.synchronize { io.to_io.closed? ? 0 : events & @interests.fetch(io, 0) }
        yield io, wanted if wanted.positive?
      end

      def interested(registered, event)
        registered.filter_map { |io, interest| io if interest.anybits?(event) }
      end

      def pair(io, readable, writable)
        events = (readable.key?(io) ? READABLE : 0) | (writable.key?(io) ? WRITABLE : 0)
        [io, events] if events.positive?
      end
    end
  end
end
