# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # The sockets of all connections. A forked child closes its copies of the parent's sockets. Otherwise a connection would stay open after
      # the parent closes it or exits.
      module CloseSocketsAfterFork
        @open = ObjectSpace::WeakMap.new # the process id by socket, while the socket is in use
        @lock = Mutex.new

        class << self
          # Adds a socket.
          #
          # @param socket [IO]
          # @return [void]
          def keep(socket)
            @lock.synchronize { @open[socket] = Process.pid }
          end

          # Closes the parent's sockets in a child, by descriptor: Ruby believes that the parent's threads still read from them.
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
            nil # other code has closed the descriptor
          end
        end

        # Prepended to Process, before all other hooks of fork.
        module AtFork
          # @return [Integer]
          def _fork
            super.tap { |pid| CloseSocketsAfterFork.leave_to_parent if pid.zero? }
          end
        end
        Process.singleton_class.prepend(AtFork)
      end
    end
  end
end
