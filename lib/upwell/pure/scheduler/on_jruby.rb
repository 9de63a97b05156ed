# frozen_string_literal: true

require "jruby"

module Upwell
  module Pure
    class Scheduler
      # JRuby 10.1 passes part of a string to the hooks for reading and writing: a Java ByteBuffer whose position is the start of that part
      # (OpenFile.java:1526 and 2535). Its IO::Buffer counts from the string's start (RubyIOBuffer.java:1537 and 1551), so it would use other
      # bytes. This module uses the Java buffer at its position. In a fixed JRuby the position would be 0.
      module OnJRuby
        BASE = Java::OrgJruby::RubyIOBuffer.java_class.getDeclaredFields.find { |field| field.getName == "base" }
        BASE&.setAccessible(true)
        PIECE = 65_536 # bytes per write, since they are copied
        FRAMES = 10 # between the calling method and the hook's check
        private_constant :BASE, :PIECE, :FRAMES

        # @return [Integer] see {IOHooks#io_read}
        def io_read(io, buffer, length, offset = 0)
          asked(io) { super(io, buffer, length, offset) }
        end

        # Writes all bytes in one call: to wait for space, JRuby would use another object, which fails.
        #
        # @return [Integer] see {IOHooks#io_write}
        def io_write(io, buffer, _length, offset = 0)
          asked(io) { super(io, buffer, buffer.size - offset, offset) }
        end

        undef_method :io_read, :io_write unless BASE # reading and writing may block in that case

        private

        # JRuby holds the IO's lock during the hook, so all other users of the IO would wait. It ignores the error number that the hook returns
        # (FiberScheduler.java:209).
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

        # JRuby's IO::Buffer#write would block the thread.
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
