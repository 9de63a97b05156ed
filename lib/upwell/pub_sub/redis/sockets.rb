# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # Those of all connections. The child of a fork makes its own, and lets go of its parent's: else these would not be gone when the parent
      # closes them, nor when it ends.
      module Sockets
        @open = [] # each with its process
        @lock = Mutex.new

        class << self
          # @param socket [IO]
          # @return [void]
          def keep(socket)
            @lock.synchronize { @open = [*@open.reject { |_, other| other.closed? }, [Process.pid, socket]] }
          end

          # In the child. Its parent's threads may be reading in them, as far as Ruby knows: so it is the descriptor alone that is closed.
          #
          # @return [void]
          def leave_to_parent
            others, @open = @open.partition { |process, socket| process != Process.pid && !socket.closed? }
            others.map(&:last).each do |socket|
              socket.autoclose = false
              IO.for_fd(socket.fileno).close
            end
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
