# frozen_string_literal: true

require_relative "close_sockets_after_fork"

module Upwell
  module PubSub
    class Redis
      # Makes the gem's Ruby driver discard unsent data when a connection closes (SO_LINGER, see socket(7)). Otherwise the kernel would still
      # send the data, and a message could arrive after messages of the next connection.
      module LingerZero
        AT_ONCE = [1, 0].pack("ii").freeze # struct linger: on, for no time

        private

        # The gem wraps a socket, or TLS on a socket.
        def connect
          super.tap { CloseSocketsAfterFork.keep(@io.instance_variable_get(:@io).to_io) }
        end

        # The gem calls this method for all TCP sockets before their use.
        def enable_socket_keep_alive(socket)
          super
          socket.setsockopt(:SOCKET, :LINGER, AT_ONCE)
        end
      end
    end
  end
end
