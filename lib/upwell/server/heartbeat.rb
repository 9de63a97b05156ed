# frozen_string_literal: true

module Upwell
  class Server
    # A worker's signs of life, on a thread of Ruby: they fail when the process is stopped, or when something keeps Ruby's lock. An application
    # that computes in Ruby does not hold them up.
    module Heartbeat
      PER_TIMEOUT = 4 # signs, so that one that is late does no harm
      INTERVAL_MAX = 5 # seconds
      SIGN = "."

      # @param timeout [Numeric] seconds of silence after which a worker is given up
      # @return [Float] seconds from sign to sign
      def self.interval(timeout)
        [timeout / PER_TIMEOUT.to_f, INTERVAL_MAX].min
      end

      # Gives signs until nobody listens.
      #
      # @param stream [IO] a pipe; when it is full the supervisor does not run, and needs no sign
      # @param seconds [Float] from sign to sign
      # @return [Thread]
      def self.give(stream, seconds)
        Thread.new do
          Thread.current.name = "upwell alive"
          loop { sleep(seconds) && stream.write_nonblock(SIGN, exception: false) }
        rescue SystemCallError, IOError
          nil
        end
      end
    end
  end
end
