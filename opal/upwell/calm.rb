# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # When to stop listening: who waits when a socket is closed is reset. Node accepts one client in a turn of its loop, others accept all, so that
  # after a turn in which nobody has come nobody waits, if it was a short one.
  module Calm
    TURNS_MAX = 1000 # in which more and more come
    SHORT_MS = 0.1

    # @param count [#call] tells how many have come
    # @yield right after a short turn in which nobody has
    # @return [void]
    def self.await(count, turns = TURNS_MAX, &calm)
      %x{
        setImmediate(() => {
          const before = #{count.call}, begun = performance.now();

          setImmediate(() => {
            const quiet = #{count.call} === before && performance.now() - begun < #{SHORT_MS};

            if (quiet || turns === 0) #{calm.call};
            else #{await(count, turns - 1, &calm)};
          });
        });
      }
    end
  end
end
