# frozen_string_literal: true

module Upwell
  module PubSub
    class Redis
      # For the gem's driver in Ruby: a connection that is closed is gone at once. Else the kernel would go on to send what the network has not
      # taken yet, and a message would arrive behind those of the next connection.
      module GoneAtOnce
        AT_ONCE = [1, 0].pack("ii").freeze # struct linger: on, for no time

        private

        # Of all TCP sockets, before they are used.
        def enable_socket_keep_alive(socket)
          super
          socket.setsockopt(:SOCKET, :LINGER, AT_ONCE)
        end
      end
    end
  end
end
