# frozen_string_literal: true

module Upwell
  class Server
    module ServiceManager
      # Notifies the service manager of the state of a supervisor and its workers.
      class ClusterNotifier
        RESTARTS = "replaces the workers one by one"

        # @param notifications [Notifications]
        # @param slots [Array<Processes::Slot>]
        def initialize(notifications, slots)
          @notifications = notifications
          @slots = slots
        end

        # Reports that all workers serve.
        def ready
          @notifications.ready(serves)
        end

        # Reports a reload around the block.
        def reload(&block)
          @notifications.reload("reloads", serves, &block)
        end

        # Reports the beginning of a phased restart. {#tick} reports its end.
        def restart
          @notifications.reloading(RESTARTS)
        end

        # Reports the start of a new server.
        def hot_restart
          @upgrading = true
          @notifications.reloading(SingleNotifier::UPGRADES)
        end

        # Reports that the new server has failed. {#tick} reports the end of the reload.
        def hot_restart_failed
          @upgrading = false
        end

        # Makes the service manager follow the new server.
        #
        # @param pid [Integer]
        def hand_over(pid)
          @notifications.hand_over(pid)
        end

        # Reports the beginning of a stop.
        def stopping
          @stopping = true
          @notifications.stopping(status)
        end

        # Sends what is due. One worker that answers is enough for the watchdog: the supervisor itself replaces the others.
        #
        # @param now [Float]
        # @param waiting [Array<Processes::Slot>] the slots whose workers wait for their replacement
        def tick(now, waiting)
          return unless @notifications.on?

          ready if @notifications.reloading? && !@upgrading && waiting.empty? && @slots.none?(&:replacing?)
          @notifications.tick(status, alive: @slots.any? { |slot| slot.accepts?(now) }, now: now)
        end

        private

        def status
          return @upgrading ? SingleNotifier::UPGRADES : RESTARTS if @notifications.reloading?

          @stopping ? "draining, #{left} of #{@slots.size} workers left" : serves
        end

        def left
          @slots.count { |slot| slot.workers.any? { |worker| worker.status.nil? } }
        end

        def serves
          serving = @slots.count(&:ready?)
          count = serving == @slots.size ? serving : "#{serving} of #{@slots.size}"
          "#{count} #{@slots.size == 1 ? "worker serves" : "workers serve"} on #{Listening::Listeners.describe(@slots.first.listeners)}"
        end
      end
    end
  end
end
