# frozen_string_literal: true

require_relative "place"

module Upwell
  class Server
    # Tells the operator when requests wait, and every thread of mode threads:N has been kept by another for long. One that streams for long is
    # no concern as long as there are threads left.
    class ThreadsWatchdog
      LOOKS = 5 # within the limit

      # @param reactor [Reactor]
      # @param count [Integer] of its threads
      # @param limit [Numeric] seconds
      # @param log [IO]
      def initialize(reactor, count, limit, log: $stderr)
        @reactor = reactor
        @count = count
        @limit = limit
        @log = log
      end

      # Watches until the thread is killed.
      def run
        loop do
          sleep @limit / LOOKS.to_f
          requests = @reactor.requests
          stuck = stuck?(requests)
          report(requests) if stuck && !@stuck
          @stuck = stuck
        end
      end

      private

      def stuck?(requests)
        @reactor.stats[:queued].positive? && requests.count { |_env, _thread, seconds| seconds >= @limit } >= @count
      end

      def report(requests)
        places = requests.map { |env, thread, seconds| format("%s for %.1f s, at\n%s", env && Place.request(env), seconds, Place.of(thread)) }
        Log.tell("all #{@count} threads are taken, and #{@reactor.stats[:queued]} requests wait for one: by\n#{places.join("\n")}", @log)
      end
    end
  end
end
