# frozen_string_literal: true

module Upwell
  module Pure
    # `IO.select` that another thread or a trap handler can end, and that skips closed IOs.
    class InterruptibleSelect
      BYTES_AT_ONCE = 4096 # per read of the pipe; if more bytes remain, the next wait ends immediately
      LONGEST_WAIT = 86_400 # seconds; IO.select does not accept infinity
      PLACES = RUBY_ENGINE == "jruby" ? 3 : 9 # Java waits in whole milliseconds, and would wake too early
      CLOSED = [Errno::EBADF, Errno::ENOTSOCK].freeze # ENOTSOCK is for sockets on Windows
      ANOTHER_WAITS = "another thread is waiting on this object: only one thread can wait at a time; create one object for each thread"
      private_constant :ANOTHER_WAITS, :CLOSED, :BYTES_AT_ONCE, :LONGEST_WAIT, :PLACES

      # @return [Hash{IO => true}, nil] a set of the last wait's IOs whose use raises an error, by identity
      attr_reader :unusable

      def initialize
        @woken = @waited = false
        @place = Mutex.new # held by the waiting fiber; trap handlers only try to lock
        open_pipe
      end

      # @return [Boolean] whether this object has waited in this process, and is not closed
      def used?
        @waited && @pid == Process.pid && !@reader.closed?
      end

      # @return [Boolean] whether this process is a forked child, and this object a copy of the parent's
      def copy?
        @pid != Process.pid
      end

      # Ends the wait in progress, or the next one if there is none.
      #
      # @return [void]
      def wake
        @woken = true
        @writer.write_nonblock(".", exception: false) if @pid == Process.pid # otherwise the pipe belongs to the parent
      rescue IOError
        nil # the waiting thread closed the pipe meanwhile
      end

      # Ends the wait in progress.
      #
      # @return [void]
      def interrupt
        wake if @place.locked?
      end

      # Reserves this object while the block runs. Other threads cannot wait then. They use {#interrupt} after they change the awaited IOs.
      #
      # @raise [Upwell::Error] when another thread waits, or when this thread waits and a signal has interrupted it
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

      # Waits for the IOs that the block returns. The block runs at a time when a later change would end the wait.
      #
      # @yieldreturn [Array(Array<IO>, Array<IO>, Numeric, Array<IO>)] the arguments of {#select}
      # @return [Array(Array<IO>, Array<IO>, Array<IO>)] the result of {#select}
      # @raise [Upwell::Error] as in {#occupy}
      def wait(&block)
        occupy { select(*block.call) }
      end

      # Waits for IOs. The caller must be in {#occupy}.
      #
      # @param readers [Array<IO>] awaited for reading
      # @param writers [Array<IO>] awaited for writing
      # @param timeout [Numeric, nil] seconds; nil: no limit
      # @param urgent [Array<IO>] awaited for urgent data
      # @return [Array(Array<IO>, Array<IO>, Array<IO>)] the ready IOs, and those whose use raises an error
      def select(readers, writers, timeout, urgent = [])
        @unusable = nil
        ready = IO.select([@reader, *readers], writers, urgent, seconds(timeout)) || [[], [], []]
        @reader.readpartial(BYTES_AT_ONCE) if ready.first.delete(@reader) && @pid == Process.pid # a trap handler may have forked
        @woken = false # last: a wake whose byte was just read would leave it true
        ready
      rescue IOError, *CLOSED => e # another thread may have closed an IO meanwhile
        unusable = unusable_of(readers, writers, urgent)
        raise unless unusable.any?(&:any?) || closed_by_half?(e)

        with_usable(unusable, [readers, writers, urgent])
      end

      # @return [void]
      # @raise [Upwell::Error] when another thread waits, or when this thread waits and a signal has interrupted it
      def close
        refuse if @place.locked?
        [@reader, @writer].each(&:close)
      end

      private

      def refuse
        raise Error, ANOTHER_WAITS unless @place.owned?

        raise Error, "this thread is already waiting: a signal handler may call `signal` or `wakeup`, but not wait or close"
      end

      # A child process needs its own pipe, since it would empty its parent's. Exceptions are deferred: if one interrupts IO.pipe, Ruby 3.1
      # closes the descriptors twice, and the second time they may belong to another file.
      def open_pipe
        @reader, @writer = Pure.uninterrupted { IO.pipe }
        @writer.sync = true
        @pid = Process.pid
      end

      def seconds(timeout)
        @woken ? 0 : timeout && [timeout, LONGEST_WAIT].min.ceil(PLACES)
      end

      # A program may close one half of a duplex IO. All other errors are raised.
      def closed_by_half?(error)
        CLOSED.any? { |known| error.is_a?(known) } && usable?([@reader])
      end

      # The result includes the IOs that are ready: otherwise they would wait until the unusable ones are removed.
      def with_usable(unusable, all)
        @unusable = Pure.by_identity(unusable.flatten(1))
        ready = IO.select(*all.map { |ios| ios.reject { |io| @unusable[io] } }, 0) || [[], [], []]
        unusable.zip(ready).map { |useless, usable| useless + usable }
      rescue IOError, *CLOSED # another IO was closed
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
