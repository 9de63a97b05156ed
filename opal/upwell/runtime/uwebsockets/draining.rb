# backtick_javascript: true
# frozen_string_literal: true

require "upwell/accept_queue_drain"
require "upwell/timer_milliseconds"

module Upwell
  module Runtime
    class UWebSockets
      # Drains and stops the server.
      module Draining
        LATE_MS = 2_000 # to send the rest of an ended response, for which the runtime has no callback
        LOOK_MS = 20

        # Serves the connected clients, because a request may be in transit.
        #
        # @see Server#drain
        def drain(&ended)
          @draining = true
          within = @options.drain_timeout
          %x{
            const closed = new Promise(resolve => #{AcceptQueueDrain.await(ports, -> { 0 }, within) { `resolve(#{stop_listening})` }});
            const grace = new Promise(resolve => setTimeout(resolve, #{@server.grace_ms}));

            Promise.all([closed, grace]).then(() => #{@server.await_idle { close(ended) }});
          }
        end

        private

        # The wait lets slow clients receive the rest of their responses.
        def close(ended)
          return `setTimeout(() => #{close(ended)}, #{LOOK_MS})` if `self.connections > 0 && performance.now() - self.late < #{late_ms}`

          `self.apps.forEach(app => app.close())`
          ended.call
        end

        def late_ms
          TimerMilliseconds.part(@options.drain_timeout, LATE_MS)
        end
      end
    end
  end
end
