# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Those of all connections. The child of a fork makes its own, and lets go of its parent's: else these would not be gone when the parent
      # closes them, nor when it ends.
      module Sockets
        @open = ObjectSpace::WeakMap.new # the process of each that somebody has
        @lock = Mutex.new

        class << self
          # @param socket [IO]
          # @return [void]
          def keep(socket)
            @lock.synchronize { @open[socket] = Process.pid }
          end

          # In the child. Its parent's threads may be reading in them, as far as Ruby knows: so it is the descriptor alone that is closed.
          #
          # @return [void]
          def leave_to_parent
            others = @open.select { |socket, process| process != Process.pid && !socket.closed? }.map(&:first)
            @open = ObjectSpace::WeakMap.new
            others.each { |socket| close_descriptor(socket) }
          end

          private

          def close_descriptor(socket)
            socket.autoclose = false
            IO.for_fd(socket.fileno).close
          rescue SystemCallError, IOError
            nil # somebody has closed it behind Ruby's back
          end
        end

        # Goes before all that Process does at a fork.
        module AtFork
          # @return [Integer]
          def _fork
            super.tap { |pid| Sockets.leave_to_parent if pid.zero? }
          end
        end
        Process.singleton_class.prepend(AtFork)
      end
    end
  end
end
