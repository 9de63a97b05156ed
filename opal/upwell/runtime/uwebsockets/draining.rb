# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"

module Upwell
  module Runtime
    class UWebSockets
      # How it comes to its end.
      module Draining
        IDLE_MS = 500 # for a request on its way on a kept connection as draining begins
        LATE_MS = 2_000 # for what the runtime has left of a response that has ended, and of which it tells no more
        LOOK_MS = 20

        # Those who are connected are served: a request may be on its way.
        #
        # @see Server#drain
        def drain(&ended)
          @draining = true
          Calm.await(-> { 0 }) { stop_listening }
          `setTimeout(() => #{@server.await_idle { close(ended) }}, #{IDLE_MS})`
        end

        private

        # Whoever took a response slowly gets the rest.
        def close(ended)
          return `setTimeout(() => #{close(ended)}, #{LOOK_MS})` if `self.connections > 0 && performance.now() - self.late < #{LATE_MS}`

          `self.apps.forEach(app => app.close())`
          ended.call
        end
      end
    end
  end
end
