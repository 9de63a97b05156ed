# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # When to stop listening: who waits when a socket is closed is reset by the kernel. Node accepts one client in a turn of its loop, others
  # accept all, so that after a turn in which nobody has come nobody waits, if it was a short one.
  module Calm
    TURNS_MAX = 1000 # in which more and more come
    SHORT_MS = 0.02
    LONGER_AFTER = 100 # turns, that take as long or longer, twice the time will do

    # @param count [#call] tells how many have come
    # @yield right after a short turn in which nobody has
    # @return [void]
    def self.await(count, turns = 0, &calm)
      %x{
        setImmediate(() => {
          const before = #{count.call}, begun = performance.now();

          setImmediate(() => {
            const short = performance.now() - begun < #{SHORT_MS} * 2 ** Math.floor(turns / #{LONGER_AFTER});

            if ((short && #{count.call} === before) || turns === #{TURNS_MAX}) #{calm.call};
            else #{await(count, turns + 1, &calm)};
          });
        });
      }
    end
  end
end
