# frozen_string_literal: true

module Upwell
  module Pure
    # `IO.select` that another thread or a trap handler can end, and that passes over closed IOs.
    class Waiter
      BYTES_AT_ONCE = 4096 # taken from the pipe; should there be more, the next wait ends at once
      LONGEST_WAIT = 86_400 # seconds; IO.select takes no infinite number
      PLACES = RUBY_ENGINE == "jruby" ? 3 : 9 # Java waits for whole milliseconds, and would not wait long enough
      CLOSED = [Errno::EBADF, Errno::ENOTSOCK].freeze # that of a socket on Windows
      private_constant :CLOSED, :BYTES_AT_ONCE, :LONGEST_WAIT, :PLACES

      # @return [Hash{IO => true}, nil] those of the last wait that using brings an error, by identity
      attr_reader :unusable

      def initialize
        @woken = @waited = false
        @place = Mutex.new # of the fiber that waits; trap handlers only try to take it
        open_pipe
      end

      # @return [Boolean] whether it has waited in this process, and is not closed
      def used?
        @waited && @pid == Process.pid && !@reader.closed?
      end

      # @return [Boolean] whether this process is the child of a fork, and all this its parent's
      def copy?
        @pid != Process.pid
      end

      # Ends the wait in progress, or else the next one.
      #
      # @return [void]
      def wake
        @woken = true
        @writer.write_nonblock(".", exception: false) if @pid == Process.pid # else the pipe is the parent's
      rescue IOError
        nil # closed meanwhile by the thread that waited
      end

      # Ends the wait in progress.
      #
      # @return [void]
      def interrupt
        wake if @place.locked?
      end

      # Nobody else waits while the block runs, and what it says of whom to wait for can be changed by {#interrupt} only.
      #
      # @raise [Upwell::Error] when another thread waits, or this one and was interrupted by a signal
      def occupy
        refuse if @place.owned?
        begin
          @place.try_lock || refuse
          open_pipe if @pid != Process.pid
          @waited = true
          yield
        ensure
          Pure.uninterrupted { @place.unlock if @place.owned? }
        end
      end

      # @yieldreturn [Array(Array<IO>, Array<IO>, Numeric, Array<IO>)] what {#select} is to be given; asked for when a change in it would end
      #   the wait
      # @return [Array(Array<IO>, Array<IO>, Array<IO>)] as {#select}
      # @raise [Upwell::Error] as {#occupy}
      def wait(&block)
        occupy { select(*block.call) }
      end

      # For who has occupied it.
      #
      # @param readers [Array<IO>] whom to wait for, until something can be read
      # @param writers [Array<IO>] until something can be written
      # @param timeout [Numeric, nil] seconds, or no limit
      # @param urgent [Array<IO>] until there is urgent data
      # @return [Array(Array<IO>, Array<IO>, Array<IO>)] those that are ready, or that using brings an error
      def select(readers, writers, timeout, urgent = [])
        @unusable = nil
        ready = IO.select([@reader, *readers], writers, urgent, seconds(timeout)) || [[], [], []]
        @reader.readpartial(BYTES_AT_ONCE) if ready.first.delete(@reader) && @pid == Process.pid # no trap handler has forked
        @woken = false # last: a wake whose byte was just taken would leave it true
        ready
      rescue IOError, *CLOSED => e # one was closed, perhaps by another thread meanwhile
        unusable = unusable_of(readers, writers, urgent)
        raise unless unusable.any?(&:any?) || closed_by_half?(e)

        with_usable(unusable, [readers, writers, urgent])
      end

      # @return [void]
      # @raise [Upwell::Error] when another thread waits, or this one and was interrupted by a signal
      def close
        refuse if @place.locked?
        [@reader, @writer].each(&:close)
      end

      private

      def refuse
        raise Error, "another thread waits: only one thread at a time may" unless @place.owned?

        raise Error, "this thread waits, and was interrupted: what handles a signal may call `signal` or `wakeup`, but not wait or close"
      end

      # Anew in a child process, which would empty its parent's. Ruby 3.1 closes the descriptors twice, the second time perhaps another's, when
      # something is raised into the thread as it makes a pipe.
      def open_pipe
        @reader, @writer = Pure.uninterrupted { IO.pipe }
        @writer.sync = true
        @pid = Process.pid
      end

      def seconds(timeout)
        @woken ? 0 : timeout && [timeout, LONGEST_WAIT].min.ceil(PLACES)
      end

      # Whoever closes one half of what has two may be done with that; any other error is none of ours.
      def closed_by_half?(error)
        CLOSED.any? { |known| error.is_a?(known) } && usable?([@reader])
      end

      # With those that are ready beside them, which would have to wait for as long as somebody leaves them there.
      def with_usable(unusable, all)
        @unusable = Pure.by_identity(unusable.flatten(1))
        ready = IO.select(*all.map { |ios| ios.reject { |io| @unusable[io] } }, 0) || [[], [], []]
        unusable.zip(ready).map { |useless, usable| useless + usable }
      rescue IOError, *CLOSED # one more
        unusable
      end

      def unusable_of(readers, writers, urgent)
        [readers.reject { |io| usable?([io]) }, writers.reject { |io| usable?(nil, [io]) }, urgent.reject { |io| usable?(nil, nil, [io]) }]
      end

      def usable?(readers = nil, writers = nil, urgent = nil)
        IO.select(readers, writers, urgent, 0)
        true
      rescue IOError, *CLOSED
        false
      end
    end
  end
end
