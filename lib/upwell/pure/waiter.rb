# frozen_string_literal: true

module Upwell
  module Pure
    # `IO.select` that another thread or a trap handler can end, and that passes over closed IOs.
    class Waiter
      BYTES_AT_ONCE = 4096 # taken from the pipe; should there be more, the next wait ends at once
      private_constant :BYTES_AT_ONCE

      def initialize
        @woken = @waited = false
        @thread = nil
        open_pipe
      end

      # @return [Boolean] whether it has waited in this process, and is not closed
      def used?
        @waited && @pid == Process.pid && !@reader.closed?
      end

      # Ends the wait in progress, or else the next one.
      #
      # @return [void]
      def wake
        @woken = true
        @writer.write_nonblock(".", exception: false) if @pid == Process.pid # else the pipe is the parent's
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
        check_alone
        open_pipe if @pid != Process.pid
        @thread = Thread.current
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

      # Anew in a child process, which would empty its parent's.
      def open_pipe
        @reader, @writer = IO.pipe
        @writer.sync = true
        @pid = Process.pid
      end

      def check_alone
        raise Error, "another thread waits: only one thread at a time may" if @thread&.alive? && @thread != Thread.current
      end

      def select(readers, writers, timeout, urgent = [])
        ready = IO.select([@reader, *readers], writers, urgent, @woken ? 0 : timeout) || [[], [], []]
        @reader.readpartial(BYTES_AT_ONCE) if ready.first.delete(@reader)
        @woken = false # last: a wake whose byte was just taken would leave it true
        ready
      rescue IOError, Errno::EBADF # one was closed, perhaps by another thread meanwhile
        unusable = [readers, writers, urgent].map { |ios| unusable(ios) }
        unusable.all?(&:empty?) ? raise : unusable
      end

      def unusable(ios)
        ios.reject { |io| usable?(io) }
      end

      def usable?(io)
        IO.select([io], nil, nil, 0) # rubocop:disable Lint/IncompatibleIoSelectWithFiberScheduler
        true
      rescue IOError, Errno::EBADF
        false
      end
    end
  end
end
