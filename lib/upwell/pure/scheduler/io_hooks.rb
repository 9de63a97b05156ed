# frozen_string_literal: true

require_relative "select_hook"

begin
  require "io/nonblock"
rescue LoadError
  nil # this library is missing on Windows, for example
end

module Upwell
  module Pure
    class Scheduler
      # The hooks for IOs. Without the hooks for reading and writing, Ruby would call {#io_wait} itself, but not for IO::Buffer. It would also
      # block the thread on terminals and inherited pipes, which are in blocking mode.
      module IOHooks
        include SelectHook

        KINDS = [IO::READABLE, IO::WRITABLE, IO::PRIORITY].freeze # in IO.select's order
        NOT_NOW = [Errno::EAGAIN, Errno::EWOULDBLOCK].freeze # equal except on Windows
        private_constant :KINDS, :NOT_NOW

        # Waits for an IO (Fiber::Scheduler#io_wait). Ruby calls this hook when an IO is not ready.
        #
        # @param io [IO]
        # @param events [Integer] of IO::READABLE, IO::PRIORITY, IO::WRITABLE
        # @param timeout [Numeric, nil] seconds; nil: io.timeout
        # @return [Integer, false] the events that occurred; false after the time-out
        # @raise [IO::TimeoutError] after io.timeout
        # @raise [IOError] when another fiber closes the IO
        def io_wait(io, events, timeout)
          io = ArgumentConversion.open_io(io)
          events = ArgumentConversion.integer(events)
          events = IO::WRITABLE if events == IO::PRIORITY && RUBY_ENGINE == "jruby" # JRuby waits so for writing
          found = wait_for_ios(KINDS.map { |kind| events.anybits?(kind) ? [io] : [] }, timeout || io_timeout(io))
          return KINDS.zip(found).sum { |kind, ready| ready.empty? ? 0 : kind } if found
          return false if timeout

          raise IO::TimeoutError, "#{io.inspect} was not ready within its timeout of #{io.timeout} seconds"
        end

        # Reads at least `length` bytes into a buffer (Fiber::Scheduler#io_read); with length 0, the bytes of one read.
        #
        # @param io [IO]
        # @param buffer [IO::Buffer]
        # @param length [Integer] bytes
        # @param offset [Integer] in the buffer; since Ruby 3.2
        # @return [Integer] bytes read, fewer than `length` only at the end of the file; or a negative error number
        # @raise [IO::TimeoutError] after io.timeout
        # @raise [IOError] when another fiber closes the IO
        def io_read(io, buffer, length, offset = 0)
          check_room(buffer, length, offset)
          # Ruby calls the hook alike for IO#read_nonblock and IO#readpartial. Only the calling method distinguishes them.
          return -Errno::EAGAIN::Errno if length.zero? && !select_now([io]) && asked_by("io_read") == "read_nonblock"

          move(length) do |done|
            io_wait(io, IO::READABLE, nil) until select_now([io]) # another fiber may have read first
            read_some(io.to_io, buffer, offset + done)
          end
        end

        # Writes at least `length` bytes of a buffer (Fiber::Scheduler#io_write); with length 0, the bytes of one write.
        #
        # @param io [IO]
        # @param buffer [IO::Buffer]
        # @param length [Integer] bytes
        # @param offset [Integer] in the buffer
        # @return [Integer] bytes written, or a negative error number
        # @raise [IO::TimeoutError] after io.timeout
        # @raise [IOError] when another fiber closes the IO
        def io_write(io, buffer, length, offset = 0)
          check_room(buffer, length, offset)
          return write_some(io.to_io, buffer, buffer.size) if RUBY_VERSION < "3.2" # this Ruby writes only from the beginning of a buffer

          move(length) { |done| write_some(io.to_io, buffer, 0, offset + done) }
        end
        # Ruby 4.1, whose buffers have a version, swaps offset and length, and length is the maximum to read or write. Without these hooks Ruby
        # reads and writes itself and calls {#io_wait}.
        remove_method :io_read, :io_write if !defined?(IO::Buffer) || IO::Buffer.const_defined?(:VERSION)
        # These versions of Ruby may raise an internal error when a scheduler writes the empty string of a `puts`.
        remove_method :io_write if RUBY_VERSION.between?("3.2", "3.3.0") && method_defined?(:io_write)

        private

        def io_timeout(io)
          io.timeout if io.respond_to?(:timeout) # since Ruby 3.2
        end

        def check_room(buffer, length, offset)
          return if offset + length <= buffer.size

          raise ArgumentError, "the buffer has #{buffer.size} bytes, too few for #{length} bytes at offset #{offset}"
        end

        # The block receives the number of bytes done, and returns the number of further bytes or a negative error number.
        def move(least, &step)
          done = 0
          until done.positive? && done >= least
            count = step.call(done)
            return done.positive? ? done : count unless count.positive?

            done += count
          end
          done
        end

        def read_some(io, buffer, offset)
          fibers.events.fill(nil) # the last fiber has left the hook
          bytes = Pure.blocking { take(io, buffer.size - offset) }
          fill(buffer, bytes, offset, io)
        rescue EOFError
          0
        rescue *NOT_NOW # another thread or process was faster
          io_wait(io, IO::READABLE, nil)
          retry
        rescue SystemCallError => e
          -e.errno
        end

        # A descriptor that is shared in blocking mode must remain blocking, so this read may block when another process reads first.
        def take(io, size)
          io.respond_to?(:nonblock?) && io.nonblock? ? io.read_nonblock(size) : io.sysread(size)
        end

        # The buffer is filled only while the IO is open: when it is closed or about to be, the buffer may be freed at any time.
        def fill(buffer, bytes, offset, io)
          fibers.events.fill(io)
          raise IOError, CLOSED if IOClose.closing?(io) || !readable?(io)

          put(bytes, buffer, offset)
          bytes.bytesize
        end

        def put(bytes, buffer, offset)
          buffer.set_string(bytes, offset)
        end

        def readable?(io)
          io.read(0)
          true
        rescue IOError
          false
        end

        def write_some(io, buffer, *place)
          loop do
            count = Pure.blocking { buffer.write(io, *place) }
            return count if count >= 0 || NOT_NOW.none? { |error| count == -error::Errno }

            io_wait(io, IO::WRITABLE, nil)
          end
        end
      end
    end
  end
end
