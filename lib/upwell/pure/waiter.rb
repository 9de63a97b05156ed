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

      def initialize
        @woken = @waited = false
        @lock = Mutex.new if RUBY_ENGINE == "jruby" # where two threads could find it free at once; trap handlers may take it there
        @thread = nil
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
        wake if @thread
      end

      # @yieldreturn [Array(Array<IO>, Array<IO>, Numeric, Array<IO>)] whom to wait for, for reading and for writing, how many seconds, or nil
      #   for no limit, and perhaps whom for urgent data; asked for when a change in it would end the wait
      # @return [Array(Array<IO>, Array<IO>, Array<IO>)] those that are ready, or that using brings an error
      # @raise [Upwell::Error] when another thread waits
      def wait(&block)
        @lock ? @lock.synchronize { occupy } : occupy
        @waited = true
        select(*block.call)
      ensure
        @thread = nil if @thread == Thread.current
      end

      # @return [void]
      # @raise [Upwell::Error] when another thread waits
      def close
        check_alone
        [@reader, @writer].each(&:close)
      end

      private

      def occupy
        check_alone
        open_pipe if @pid != Process.pid
        @thread = Thread.current
      end

      # Anew in a child process, which would empty its parent's. Ruby 3.1 closes the descriptors twice, the second time perhaps another's, when
      # something is raised into the thread as it makes a pipe.
      def open_pipe
        @reader, @writer = Thread.handle_interrupt(Object => :never) { IO.pipe }
        @writer.sync = true
        @pid = Process.pid
      end

      def check_alone
        raise Error, "another thread waits: only one thread at a time may" if @thread&.alive? && @thread != Thread.current
      end

      def select(readers, writers, timeout, urgent = [])
        ready = IO.select([@reader, *readers], writers, urgent, seconds(timeout)) || [[], [], []]
        @reader.readpartial(BYTES_AT_ONCE) if ready.first.delete(@reader) && @pid == Process.pid # no trap handler has forked
        @woken = false # last: a wake whose byte was just taken would leave it true
        ready
      rescue IOError, *CLOSED => e # one was closed, perhaps by another thread meanwhile
        unusable = unusable(readers, writers, urgent)
        unusable.any?(&:any?) || closed_by_half?(e) ? unusable : raise
      end

      def seconds(timeout)
        @woken ? 0 : timeout && [timeout, LONGEST_WAIT].min.ceil(PLACES)
      end

      # Whoever closes one half of what has two may be done with that; any other error is none of ours.
      def closed_by_half?(error)
        CLOSED.any? { |known| error.is_a?(known) } && usable?([@reader])
      end

      def unusable(readers, writers, urgent)
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
