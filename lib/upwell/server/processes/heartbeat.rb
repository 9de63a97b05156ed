# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    module Processes
      # A worker's heartbeats, on a Ruby thread. They stop when the process is stopped or when code keeps Ruby's lock. An application that
      # computes in Ruby does not delay them.
      module Heartbeat
        PER_TIMEOUT = 4 # heartbeats, so that one late heartbeat does no harm
        INTERVAL_MAX = 5 # seconds
        MISSED = 2 # heartbeats, after which new clients go to other workers
        SIGN = "."
        LEAVING = "!" # the worker accepts no more clients
        QUIETLY = defined?(Socket::MSG_NOSIGNAL) ? Socket::MSG_NOSIGNAL : 0 # macOS has no such flag

        # Computes the interval of the heartbeats.
        #
        # @param timeout [Numeric] seconds without a heartbeat after which a worker is killed
        # @return [Float] seconds from one heartbeat to the next
        def self.interval(timeout)
          [timeout / PER_TIMEOUT.to_f, INTERVAL_MAX].min
        end

        # Sends heartbeats until the other end closes.
        #
        # @param stream [UNIXSocket]
        # @param seconds [Float] from one heartbeat to the next
        # @yield before the first heartbeat
        # @return [Thread]
        def self.give(stream, seconds)
          Thread.new do
            Thread.current.name = "upwell alive"
            yield
            sleep(seconds) while tell(stream, SIGN)
          end
        end

        # Sends text without waiting. If the buffer is full, the other process does not run and needs no heartbeat.
        #
        # @param stream [UNIXSocket] of supervisor or worker
        # @param text [String]
        # @return [Boolean] false when the other end is closed; the application decides about SIGPIPE
        def self.tell(stream, text)
          stream.sendmsg_nonblock(text, QUIETLY, exception: false)
          true
        rescue SystemCallError, IOError
          false
        end
      end
    end
  end
end
