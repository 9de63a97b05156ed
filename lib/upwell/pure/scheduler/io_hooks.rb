# frozen_string_literal: true

require_relative "select_hook"

begin
  require "io/nonblock"
rescue LoadError
  nil # as on Windows
end

module Upwell
  module Pure
    class Scheduler
      # The hooks for IOs. Reading and writing could be left to Ruby, which asks {#io_wait} where it cannot go on, but for IO::Buffer, which
      # does not, and for terminals and inherited pipes, which are not non-blocking: reading those would block the thread.
      module IOHooks
        include SelectHook

        KINDS = [IO::READABLE, IO::WRITABLE, IO::PRIORITY].freeze # in IO.select's order
        NOT_NOW = [Errno::EAGAIN, Errno::EWOULDBLOCK].freeze # which are one but on Windows
        private_constant :KINDS, :NOT_NOW

        # The hook for IO#wait and whatever finds an IO not ready.
        #
        # @param io [IO]
        # @param events [Integer] of IO::READABLE, IO::PRIORITY, IO::WRITABLE
        # @param timeout [Numeric, nil] seconds; nil is as long as io.timeout says
        # @return [Integer, false] those events that have come; false when the time was up
        # @raise [IO::TimeoutError] when io.timeout was up
        # @raise [IOError] when another fiber closes the IO
        def io_wait(io, events, timeout)
          io = io.to_io
          events = IO::WRITABLE if events == IO::PRIORITY && RUBY_ENGINE == "jruby" # which asks so for room to write, and knows no urgent data
          found = wait_for_ios(KINDS.map { |kind| events.anybits?(kind) ? [io] : [] }, timeout || io_timeout(io))
          return KINDS.zip(found).sum { |kind, ready| ready.empty? ? 0 : kind } if found
          return false if timeout

          raise IO::TimeoutError, "#{io.inspect} was not ready within its timeout of #{io.timeout} seconds"
        end

        # The hook for IO#read and IO::Buffer#read: fills the buffer with at least `length` bytes; with 0, with what one read brings.
        #
        # @param io [IO]
        # @param buffer [IO::Buffer]
        # @param length [Integer] bytes
        # @param offset [Integer] in the buffer; since Ruby 3.2
        # @return [Integer] bytes read, fewer than `length` only at the end of the file; or a negative error number
        # @raise [IO::TimeoutError] when io.timeout was up
        # @raise [IOError] when another fiber closes the IO
        def io_read(io, buffer, length, offset = 0)
          check_room(buffer, length, offset)
          return -Errno::EAGAIN::Errno if length.zero? && !select_now([io]) && asked_by_read_nonblock?

          move(length) do |done|
            io_wait(io, IO::READABLE, nil) until select_now([io]) # or another fiber was faster
            read_some(io.to_io, buffer, offset + done)
          end
        end

        # The hook for IO#write and IO::Buffer#write: writes at least `length` bytes of the buffer; with 0, what one write takes.
        #
        # @param io [IO]
        # @param buffer [IO::Buffer]
        # @param length [Integer] bytes
        # @param offset [Integer] in the buffer
        # @return [Integer] bytes written, or a negative error number
        # @raise [IO::TimeoutError] when io.timeout was up
        # @raise [IOError] when another fiber closes the IO
        def io_write(io, buffer, length, offset = 0)
          check_room(buffer, length, offset)
          return write_some(io.to_io, buffer, buffer.size) if RUBY_VERSION < "3.2" # which writes from a buffer's beginning only

          move(length) { |done| write_some(io.to_io, buffer, 0, offset + done) }
        end
        # Ruby 4.1, whose buffers have a version, has offset and length change places, and means by length what is read or written at most:
        # without these hooks it reads and writes itself and asks {#io_wait}.
        remove_method :io_read, :io_write if !defined?(IO::Buffer) || IO::Buffer.const_defined?(:VERSION)
        # There, Ruby may end in an error of its own when a scheduler writes the empty string of a `puts`.
        remove_method :io_write if RUBY_VERSION.between?("3.2", "3.3.0") && method_defined?(:io_write)

        private

        def io_timeout(io)
          io.timeout if io.respond_to?(:timeout) # since Ruby 3.2
        end

        def check_room(buffer, length, offset)
          return if offset + length <= buffer.size

          raise ArgumentError, "#{length} bytes at #{offset} are more than the buffer has: #{buffer.size}"
        end

        # Ruby asks for IO#read_nonblock as for IO#readpartial; only the method that asks tells them apart.
        def asked_by_read_nonblock?
          caller_locations(2, 1).first&.base_label == "read_nonblock"
        end

        # `step` gets how much is done, and returns how much more is, or a negative error number.
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
          fibers.events.fill(nil) # whoever did has left
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

        # Where it must not be made non-blocking, as others have it too, it may block when those are faster.
        def take(io, size)
          io.respond_to?(:nonblock?) && io.nonblock? ? io.read_nonblock(size) : io.sysread(size)
        end

        # Not when the IO has been closed meanwhile, or is about to be: then the buffer may be freed at any time.
        def fill(buffer, bytes, offset, io)
          fibers.events.fill(io)
          raise IOError, CLOSED if Closing.closing?(io) || !readable?(io)

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
