# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # When to stop listening: who waits when a socket is closed is reset by the kernel. Node accepts one client in a turn of its loop, others
  # accept all, so that after a turn in which nobody has come nobody waits, if it was a short one. Under load no turn is, and clients that are
  # told to close their connections come again and again: then it is done after a while as it is.
  module Calm
    WITHIN_MS = 500
    SHORT_MS = 0.02
    LONGER_AFTER = 100 # turns, that take as long or longer, twice the time will do

    # @return [Numeric] when it shall be done at last
    def self.latest
      `performance.now() + #{WITHIN_MS}`
    end

    # @param count [#call] tells how many have come
    # @param latest [Numeric] see {.latest}
    # @yield right after a short turn in which nobody has, or when it is late
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
