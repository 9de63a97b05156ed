# frozen_string_literal: true

require_relative "../logs/request_description"

module Upwell
  class Server
    module Watchdogs
      # Logs when requests wait and every thread of mode threads:N is busy with a request for too long. A long streaming response is
      # harmless while other threads are free.
      class ThreadsWatchdog
        LOOKS = 5 # checks within the limit

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
          places = requests.map do |env, thread, seconds|
            format("%s for %.1f s; backtrace:\n%s", env && Logs::RequestDescription.request(env), seconds, Logs::RequestDescription.of(thread))
          end
          waiting = @reactor.stats[:queued]
          Log.tell("all #{@count} threads are busy, and #{waiting} requests wait; use more threads or workers, " \
                   "or make these requests faster:\n#{places.join("\n")}", @log)
        end
      end
    end
  end
end
