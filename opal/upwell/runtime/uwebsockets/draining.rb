# backtick_javascript: true
# frozen_string_literal: true

require "upwell/last_clients"
require "upwell/milliseconds"

module Upwell
  module Runtime
    class UWebSockets
      # How it comes to its end.
      module Draining
        LATE_MS = 2_000 # for what the runtime has left of a response that has ended, and of which it tells no more
        LOOK_MS = 20

        # Those who are connected are served: a request may be on its way.
        #
        # @see Server#drain
        def drain(&ended)
          @draining = true
          within = @options.drain_timeout
          %x{
            const closed = new Promise(resolve => #{LastClients.await(ports, -> { 0 }, within) { `resolve(#{stop_listening})` }});
            const grace = new Promise(resolve => setTimeout(resolve, #{@server.grace_ms}));

            Promise.all([closed, grace]).then(() => #{@server.await_idle { close(ended) }});
          }
        end

        private

        # Whoever took a response slowly gets the rest.
        def close(ended)
          return `setTimeout(() => #{close(ended)}, #{LOOK_MS})` if `self.connections > 0 && performance.now() - self.late < #{late_ms}`

          `self.apps.forEach(app => app.close())`
          ended.call
        end

        def late_ms
          Milliseconds.part(@options.drain_timeout, LATE_MS)
        end
      end
    end
  end
end
