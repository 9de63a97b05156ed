# frozen_string_literal: true

require "jruby"

module Upwell
  module Pure
    class Scheduler
      # What JRuby 10.1 hands to the hooks for reading and writing is part of a string, in a ByteBuffer of Java whose position is where that part
      # begins (OpenFile.java:1526 and 2535). Its IO::Buffer counts from where the string begins (RubyIOBuffer.java:1537 and 1551), and so
      # would read and write other bytes. Here Java's buffer is used, at its position; should JRuby mend that, the position is 0.
      module OnJRuby
        BASE = Java::OrgJruby::RubyIOBuffer.java_class.getDeclaredFields.find { |field| field.getName == "base" }
        BASE&.setAccessible(true)
        PIECE = 65_536 # bytes written at once: they are copied
        FRAMES = 10 # between the method that asks and what the hook asks
        private_constant :BASE, :PIECE, :FRAMES

        # @return [Integer] as elsewhere
        def io_read(io, buffer, length, offset = 0)
          asked(io) { super(io, buffer, length, offset) }
        end

        # All at once: for room for the rest JRuby would wait by another object, which fails.
        #
        # @return [Integer] as elsewhere
        def io_write(io, buffer, _length, offset = 0)
          asked(io) { super(io, buffer, buffer.size - offset, offset) }
        end

        undef_method :io_read, :io_write unless BASE # where reading and writing may block then

        private

        # JRuby holds the lock of the IO meanwhile, for which all who read, write or close it would wait; and does not take the number of an
        # error from what the hook returns (FiberScheduler.java:209).
        def asked(io)
          file = ::JRuby.ref(io.to_io).getOpenFile
          locked = !file.lock
          file.unlock
          count = yield
          file.errno(Java::JnrConstantsPlatform::Errno.valueOf(-count)) if count.negative?
          count
        ensure
          file.lock if locked
        end

        def asked_by_read_nonblock?
          caller_locations(2, FRAMES).any? { |location| location.base_label == "read_nonblock" }
        end

        def put(bytes, buffer, offset)
          base = base_of(buffer)
          base.put(base.position + offset, bytes.to_java_bytes)
        end

        def write_some(io, buffer, _least = 0, offset = 0)
          base = base_of(buffer)
          bytes = Java::byte[[buffer.size - offset, PIECE].min].new
          base.get(base.position + offset, bytes)
          write_bytes(io, String.from_java_bytes(bytes))
        rescue SystemCallError => e
          -e.errno
        end

        # Its IO::Buffer#write would block the thread.
        def write_bytes(io, bytes)
          io_wait(io, IO::WRITABLE, nil) until (count = Pure.blocking { io.write_nonblock(bytes, exception: false) }).is_a?(Integer)
          count
        end

        def base_of(buffer)
          BASE.get(::JRuby.ref(buffer))
        end
      end
      private_constant :OnJRuby
    end
  end
end
