# frozen_string_literal: true

require_relative "stats"
require_relative "waiter"

module Upwell
  module Pure
    # {Upwell::Selector} on `IO.select`, where there is no extension. The methods are described there.
    class Selector
      # Ready for reading; the same as IO::READABLE.
      READABLE = IO::READABLE
      # Ready for writing; the same as IO::WRITABLE.
      WRITABLE = IO::WRITABLE

      # @param backend [String, Symbol, nil] "select"
      # @raise [Upwell::BackendError] for any other
      def initialize(backend: nil)
        @backend = Pure.backend(backend)
        @waiter = Waiter.new
        @lock = Mutex.new
        @interests = {}.compare_by_identity
        @closed = false
        Stats.count(self)
      end

      # @private
      # @return [Hash{Symbol => Integer}, nil] its part of {Upwell.stats}, if it has waited in this process and is not closed
      def stats_here
        return unless @waiter.used?

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
        check_interest(interest)
        raise IOError, "closed stream" if io.to_io.closed?

        @lock.synchronize { @interests[io] = interest }
        @waiter.interrupt
        self
      end

      # @return [Boolean] whether it was registered
      def deregister(io)
        check_open
        known = @lock.synchronize { @interests.delete(io) }
        @waiter.interrupt
        !known.nil?
      end

      # @return [Array<Array(IO, Integer)>, self]
      def wait(timeout = nil, &block)
        check_open
        raise ArgumentError, "the time-out must be nil or a number of seconds from 0 on" unless timeout.nil? || timeout >= 0

        pairs = ready_pairs(timeout)
        return pairs unless block

        pairs.each { |io, events| tell(io, events, &block) }
        self
      end

      # @return [self]
      def wakeup
        check_open
        @waiter.wake
        self
      end

      # @return [nil]
      def close
        @waiter.close unless @closed
        @closed = true
        nil
      end

      # @return [Boolean]
      def closed?
        @closed
      end

      private

      def check_open
        raise IOError, "the selector is closed" if @closed
      end

      def check_interest(interest)
        return if interest.is_a?(Integer) && interest.positive? && interest.nobits?(~(READABLE | WRITABLE))

        raise ArgumentError, "the interest must be READABLE, WRITABLE or both, not #{interest}"
      end

      def ready_pairs(timeout)
        registered = nil
        ready = @waiter.wait do
          registered = @lock.synchronize { @interests.delete_if { |io, _| io.to_io.closed? }.dup }
          [interested(registered, READABLE), interested(registered, WRITABLE), timeout]
        end
        readable, writable = ready.first(2).map { |ios| Pure.by_identity(ios) } # who are equal need not be the same
        @lock.synchronize do
          registered.keys.filter_map { |io| pair(io, readable, writable) if @interests.key?(io) && !io.to_io.closed? }
        end
      end

      # What the block has deregistered or closed meanwhile is not told.
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
