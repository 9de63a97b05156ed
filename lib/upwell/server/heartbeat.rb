# frozen_string_literal: true

require "socket"

module Upwell
  class Server
    # A worker's signs of life, on a thread of Ruby: they fail when the process is stopped, or when something keeps Ruby's lock. An application
    # that computes in Ruby does not hold them up.
    module Heartbeat
      PER_TIMEOUT = 4 # signs, so that one that is late does no harm
      INTERVAL_MAX = 5 # seconds
      MISSED = 2 # signs, after which new clients go to other workers
      SIGN = "."
      LEAVING = "!" # it takes in nobody any more
      QUIETLY = defined?(Socket::MSG_NOSIGNAL) ? Socket::MSG_NOSIGNAL : 0 # macOS has no such flag

      # @param timeout [Numeric] seconds of silence after which a worker is given up
      # @return [Float] seconds from sign to sign
      def self.interval(timeout)
        [timeout / PER_TIMEOUT.to_f, INTERVAL_MAX].min
      end

      # Gives signs until nobody listens.
      #
      # @param stream [UNIXSocket]
      # @param seconds [Float] from sign to sign
      # @yield before the first
      # @return [Thread]
      def self.give(stream, seconds)
        Thread.new do
          Thread.current.name = "upwell alive"
          yield
          sleep(seconds) while tell(stream, SIGN)
        end
      end

      # Waits for nobody: where there is no room the other process does not run, and needs no sign.
      #
      # @param stream [UNIXSocket] of supervisor or worker
      # @param text [String]
      # @return [Boolean] whether somebody listens; if not, what SIGPIPE does is for the application to say
      def self.tell(stream, text)
        stream.sendmsg_nonblock(text, QUIETLY, exception: false)
        true
      rescue SystemCallError, IOError
        false
      end
    end
  end
end
