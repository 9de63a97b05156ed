# frozen_string_literal: true

require_relative "sockets"

module Upwell
  module PubSub
    class Redis
      # For the gem's driver in Ruby: a connection that is closed is gone at once. Else the kernel would go on to send what the network has not
      # taken yet, and a message would arrive behind those of the next connection.
      module GoneAtOnce
        AT_ONCE = [1, 0].pack("ii").freeze # struct linger: on, for no time

        private

        # What the gem wraps is a socket, or TLS on one.
        def connect
          super.tap { Sockets.keep(@io.instance_variable_get(:@io).to_io) }
        end

        # Of all TCP sockets, before they are used.
        def enable_socket_keep_alive(socket)
          super
          socket.setsockopt(:SOCKET, :LINGER, AT_ONCE)
        end
      end
    end
  end
end
