# frozen_string_literal: true

require_relative "place"

module Upwell
  class Server
    # Tells the operator about an application that keeps the loop's thread: every other client waits meanwhile. It cannot do so while a C
    # extension holds the interpreter's lock.
    class Watchdog
      # @param reactor [Reactor]
      # @param thread [Thread] the one that runs it
      # @param limit [Numeric] seconds of computing without a wait
      # @param log [IO]
      def initialize(reactor, thread, limit, log: $stderr)
        @reactor = reactor
        @thread = thread
        @limit = limit
        @log = log
      end

      # Watches until the thread is killed.
      def run
        loop { watch }
      end

      private

      # Sleeps until the limit could be exceeded. Reports once for each stretch.
      def watch
        busy = @reactor.busy_seconds
        if busy && busy >= @limit
          report(busy)
          sleep @limit / 10.0 while (@reactor.busy_seconds || 0) >= busy
        else
          sleep @limit - (busy || 0)
        end
      end

      def report(busy)
        Log.tell(format("%s has kept the loop for %.1f s, and every other client waits; it is at\n%s", request, busy, Place.of(@thread)), @log)
      end

      def request
        env, = @reactor.requests.find { |_env, _thread, _seconds, running| running }
        env ? Place.request(env) : "a request"
      end
    end
  end
end
