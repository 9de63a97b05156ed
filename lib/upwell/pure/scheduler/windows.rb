# frozen_string_literal: true

require "fcntl"

module Upwell
  module Pure
    class Scheduler
      # Ruby leaves sockets on Windows as those that block, and Windows takes each pipe to have room: both would block the thread. So sockets are
      # made not to, and pipes are tried again and again, in pieces, as nothing is written of one that does not fit.
      module Windows
        PIECE = 4096 # bytes
        PAUSE = 0.01 # seconds; IO.select looks as often there
        private_constant :PIECE, :PAUSE

        # @return [Integer, false] as elsewhere
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

        # Each time, as it may be reopened as another; and by an object of its own, as what the other has in its buffer would be written first.
        def try_to_write(pipe, piece)
          IO.for_fd(pipe.fileno, "wb", autoclose: false).write_nonblock("")
          piece.write(pipe, 0)
        end

        # Urgent data is what no pipe ever has: only an end or the time ends the wait.
        def wait_for_room(io, deadline)
          wait_for_ios([[], [], [io]], PAUSE)
          raise IO::TimeoutError, "#{io.inspect} had no room within its timeout of #{io.timeout} seconds" if deadline && Pure.now > deadline
        end
      end
      private_constant :Windows
    end
  end
end
