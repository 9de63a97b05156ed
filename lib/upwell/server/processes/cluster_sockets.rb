# frozen_string_literal: true

require_relative "../listening/reuseport_steering"

module Upwell
  class Server
    module Processes
      # The sockets of a {Cluster}: those of its slots, and that of the control address.
      module ClusterSockets
        private

        def open_sockets
          @control = Listening::ControlListener.open(@configuration)
          open_slots
        end

        def open_slots
          sets = Listening::Listeners.new(@configuration, reuse_port: true).open_sets(@configuration.workers * @configuration.loops)
          @slots = sets.each_slice(@configuration.loops).with_index.map do |own, index|
            Slot.new(index, own.flatten(1), @configuration.drain_timeout, -> { @control }) { |slot| fork_worker(slot) }
          end
          @notifier = ServiceManager::ClusterNotifier.new(@notifications, @slots)
          @steering = Listening::ReuseportSteering.new(@slots)
        end

        def close
          Listening::Listeners.remove(@slots.flat_map(&:listeners))
          @control&.close
        end

        # A worker must close these: otherwise it keeps its siblings' ports and pipes open after the supervisor's death.
        def inherited_needlessly(slot)
          foreign = (@slots - [slot]).flat_map(&:listeners) - slot.listeners
          [*@signals.ends, *@notifications.ends, *@handover.ends, *@control&.ends, *foreign.map(&:socket), *workers.flat_map(&:pipes)]
        end
      end
    end
  end
end
