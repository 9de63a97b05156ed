# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Finds the time to stop listening: when a socket closes, the kernel resets the clients in its accept queue. Node accepts one client per loop
  # iteration, the other runtimes accept all. After a short iteration without a new client the queue is empty. Under load no iteration is short,
  # and clients of closed connections reconnect again and again. So the wait ends after a while in any case.
  module AcceptQueueIdleWait
    WITHIN_MS = 500
    SHORT_MS = 0.02
    LONGER_AFTER = 100 # iterations, after which the limit for a short one doubles

    # @return [Numeric] the time when the wait ends in any case
    def self.latest
      `performance.now() + #{WITHIN_MS}`
    end

    # Waits for a short iteration without a new client.
    #
    # @param count [#call] returns the number of accepted clients
    # @param latest [Numeric] see {.latest}
    # @yield after a short iteration without a new client, or at the latest time
    # @return [void]
    def self.await(count, latest = self.latest, turns = 0, &calm)
      %x{
        setImmediate(() => {
          const before = #{count.call}, begun = performance.now();

          setImmediate(() => {
            const now = performance.now(), short = now - begun < #{SHORT_MS} * 2 ** Math.floor(turns / #{LONGER_AFTER});

            if ((short && #{count.call} === before) || now > latest) #{calm.call};
            else #{await(count, latest, turns + 1, &calm)};
          });
        });
      }
    end
  end
end
