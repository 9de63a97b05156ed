# frozen_string_literal: true

require_relative "../logs/request_description"

module Upwell
  class Server
    module Watchdogs
      # Logs when an application blocks the loop's thread, since all other clients wait meanwhile. The watchdog cannot run while a C
      # extension holds the interpreter's lock.
      class LoopWatchdog
        # @param reactor [Reactor]
        # @param thread [Thread] the reactor's thread
        # @param limit [Numeric] seconds of computation without a wait
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

        # Sleeps until the limit could be exceeded. Each stretch is reported once.
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
          Log.tell(format("%s has blocked the loop for %.1f s, so all other clients of this process wait; make this code faster, " \
                          "or use --mode threads:N; backtrace:\n%s", request, busy, Logs::RequestDescription.of(@thread)), @log)
        end

        def request
          env, = @reactor.requests.find { |_env, _thread, _seconds, running| running }
          env ? Logs::RequestDescription.request(env) : "a request"
        end
      end
    end
  end
end
