# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # What the metrics tell of a {Worker}.
      module WorkerState
        STATES = %w[starting serving silent draining].freeze

        # @param now [Float]
        # @return [String] one of STATES; a silent worker misses heartbeats
        def state(now)
          return "draining" if draining?
          return "starting" unless ready?

          accepts?(now) ? "serving" : "silent"
        end

        # @return [String] why the process ended, for the metrics
        def end_reason
          return "no_heartbeat" if @silent
          return "stop_signal" if @leaves

          draining? ? "phased_restart" : "died"
        end
      end
    end
  end
end
