# frozen_string_literal: true

require "fcntl"

module Upwell
  module Pure
    class Scheduler
      # Ruby leaves sockets in blocking mode on Windows, and IO.select reports each pipe as writable. Both would block the thread. So this module
      # makes sockets non-blocking, and writes to pipes by polling, in small pieces: a pipe takes a piece whole or not at all.
      module WindowsNonblockingIO
        PIECE = 4096 # bytes
        PAUSE = 0.01 # seconds, the interval of IO.select on Windows
        private_constant :PIECE, :PAUSE

        # @return [Integer, false] see {IOHooks#io_wait}
        def io_wait(io, *)
          refuse_to_block(io.to_io) if io.to_io.is_a?(BasicSocket)
          super
        end

        private

        def write_some(io, buffer, _least = 0, offset = 0)
          return write_to_pipe(io, buffer, offset) if offset < buffer.size && !io.is_a?(BasicSocket) && io.stat.pipe?

          refuse_to_block(io) if io.is_a?(BasicSocket)
          super
        end

        def refuse_to_block(socket)
          socket.fcntl(Fcntl::F_SETFL, File::NONBLOCK)
        end

        def write_to_pipe(io, buffer, offset)
          piece = buffer.slice(offset, [buffer.size - offset, PIECE].min)
          deadline = io_timeout(io)&.then { |seconds| Pure.now + seconds }
          wait_for_room(io, deadline) while (count = Pure.blocking { try_to_write(io, piece) }).zero?
          count
        end

        # Each attempt makes a new object: the pipe may be reopened, and a buffered object would write its own buffer first.
        def try_to_write(pipe, piece)
          IO.for_fd(pipe.fileno, "wb", autoclose: false).write_nonblock("")
          piece.write(pipe, 0)
        end

        # A pipe never has urgent data, so only its end or the time-out ends this wait.
        def wait_for_room(io, deadline)
          wait_for_ios([[], [], [io]], PAUSE)
          raise IO::TimeoutError, "#{io.inspect} was not writable within its timeout of #{io.timeout} seconds" if deadline && Pure.now > deadline
        end
      end
      private_constant :WindowsNonblockingIO
    end
  end
end
