# frozen_string_literal: true

require "socket"
require_relative "../../clock"

module Upwell
  class Server
    module ServiceManager
      # Sends messages to the service manager, see sd_notify(3).
      class NotifySocket
        ABSTRACT = "@"
        FORMS = ["/", ABSTRACT].freeze # the first character of a supported address
        PATIENCE = 0.5 # seconds to wait for room in the socket's queue
        PAUSE = 0.01 # seconds between two attempts
        QUIETLY = defined?(Socket::MSG_NOSIGNAL) ? Socket::MSG_NOSIGNAL : 0 # macOS has no such flag

        # @param address [String] a path, or the name of an abstract socket after "@"
        # @raise [SystemCallError, ArgumentError] ArgumentError is for an address that is too long
        def initialize(address)
          @address = Socket.sockaddr_un(address.sub(/\A#{ABSTRACT}/o, "\0"))
          @socket = Socket.new(:UNIX, :DGRAM)
        end

        # Sends a message. A failure does not harm the server. While the queue is full, only the first message waits.
        #
        # @param text [String]
        # @param patience [Numeric] seconds to wait at most
        # @return [Boolean] whether the message was sent
        def send(text, patience = PATIENCE)
          deadline = Clock.now + (@full ? 0 : patience)
          sleep(PAUSE) until (sent = sent?(text)) || Clock.now >= deadline
          @full = !sent
          sent
        rescue SystemCallError, IOError
          false
        end

        # Closes this process's descriptor.
        def close
          @socket.close
        end

        private

        def sent?(text)
          @socket.sendmsg_nonblock(text, QUIETLY, @address, exception: false) != :wait_writable
        end
      end
    end
  end
end
