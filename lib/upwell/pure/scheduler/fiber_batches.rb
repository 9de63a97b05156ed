# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # Runs ready fibers in batches. Events are collected between the batches, and also during a long one.
      module FiberBatches
        LOOK_SECONDS = 0.001 # seconds of a batch, before events are collected
        COMPUTED_PLACES = 3 # decimal places of the seconds
        private_constant :LOOK_SECONDS, :COMPUTED_PLACES

        private

        def turn(limit = nil)
          before = @ready.size
          @events.turn(ready? ? 0 : limit)
        ensure
          @looked = Pure.now
          Pure.uninterrupted { go_between(before) } if @batch.any?
        end

        def ready?
          @ready.any? || @batch.any? || @between.any? || @dispatcher.pending?
        end

        # Moves the waits of `ready` from this index on to the queue that alternates with the batch.
        def go_between(place)
          later, soon = @ready.slice!(place..).partition(&:gives_way?)
          @ready.concat(later)
          @between.concat(soon).sort_by!.with_index { |wait, index| [wait.computed.floor(COMPUTED_PLACES), index] }
        end

        def make_batch
          @batch.concat(@between, @ready.sort_by.with_index { |wait, index| [wait.gives_way? ? 1 : 0, index] })
          [@between, @ready].each(&:clear)
        end

        def run_some
          until @batch.empty?
            run_first(@batch)
            run_first(@between) unless @between.empty?
            break if Pure.now - @looked > LOOK_SECONDS
          end
        end

        # The wait remains in the queue until its fiber has run, even if an exception is raised first.
        def run_first(waits)
          wait = waits.first
          transfer(wait) unless wait.left?
          waits.shift if waits.first.equal?(wait)
        end

        def transfer(wait)
          before = Pure.now
          @begun = nil
          @dispatcher.transfer(wait.fiber)
          @begun.computed = Pure.now - before if @begun && @begun.fiber.equal?(wait.fiber)
        end
      end
      private_constant :FiberBatches
    end
  end
end
