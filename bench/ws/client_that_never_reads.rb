# frozen_string_literal: true

require "socket"
require_relative "load_run"

module Bench
  module Ws
    # A run beside a client that subscribes and then reads nothing: what that costs the others, and what memory the server has for it.
    class ClientThatNeverReads < LoadRun
      RECEIVE_BUFFER = 4096 # bytes, which the kernel doubles
      HANDSHAKE = "GET /all HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
                  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

      private

      def measure(server, seconds)
        deaf = connect(server)
        empty = memory(server)
        super.tap { |sample| sample.client_bytes = memory(server) - empty }
      ensure
        deaf&.close
      end

      def connect(server)
        socket = Socket.new(:INET, :STREAM)
        socket.setsockopt(:SOCKET, :RCVBUF, RECEIVE_BUFFER)
        socket.connect(Addrinfo.tcp("127.0.0.1", URI(server.url).port))
        socket.write(HANDSHAKE)
        raise Server::Error, "does not take the client" unless socket.gets&.include?("101")

        socket
      end
    end
  end
end
