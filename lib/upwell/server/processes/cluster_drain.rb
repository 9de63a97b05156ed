# frozen_string_literal: true

require_relative "../control/commands"

module Upwell
  class Server
    module Processes
      # The drain of a {Cluster}: a delay in which readiness checks fail, then the end of all workers.
      module ClusterDrain
        EXIT_PATIENCE = 1 # seconds until workers that should exit at once are killed, longer than their access logs take
        EXIT_PAUSE = 0.01 # seconds between two looks at these workers

        # Drains all workers. The delay comes first if a worker serves.
        #
        # @param cause [String] see {Control::Commands}
        def drain(cause)
          @handover.cancel
          log_errors { @notifier.stopping } # an error must not prevent the drain
          @restart.clear
          @configuration.drain_delay.positive? && @slots.any?(&:ready?) ? announce(cause) : drain_now(cause)
        end

        private

        # New workers replace those that die meanwhile.
        def announce(cause)
          @drain_cause = cause
          @drain_at = Clock.now + @configuration.drain_delay
          Log.tell("#{cause}: #{Shutdown::Termination.announcement(@configuration)}; #{Control::Commands.later("kills the workers")}")
          @slots.each { |slot| log_errors { slot.announce_drain } }
        end

        def drain_now(cause)
          @terminating = true
          @drain_at = nil
          ProcessTitle.set("supervisor, draining")
          waits = Shutdown::Termination.sentence(nil, 0, @configuration.drain_timeout)
          Log.tell("#{cause}: stopping the workers, #{waits}; #{Control::Commands.later("kills them")}")
          Listening::Listeners.remove(@slots.flat_map(&:listeners))
          @slots.each { |slot| log_errors { slot.drain } }
        end

        def drain_when_due
          drain_now(@drain_cause) if @drain_at && @woke >= @drain_at
        end

        # Workers write the lines of their access logs before they exit.
        def end_workers
          workers.each(&:end_at_once)
          deadline = Clock.now + EXIT_PATIENCE
          sleep(EXIT_PAUSE) until workers.all?(&:ended?) || Clock.now >= deadline
          workers.each(&:kill)
        end

        # Checks the workers directly, in case a slot failed to record their exit.
        def end_drained
          return unless @terminating && !@status && workers.all?(&:ended?)

          @status = @slots.all?(&:finished?) ? 0 : 1
        end
      end
    end
  end
end
