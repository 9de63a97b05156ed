# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # All timers, ordered by deadline.
      class Timers
        def initialize
          @timers = []
        end

        # @return [Integer]
        def size
          @timers.size
        end

        # @return [Float, nil] on the clock of {Pure.now}
        def next_deadline
          @timers.first&.deadline
        end

        # Adds a timer.
        #
        # @param timer [#deadline, #expire]
        # @return [void]
        def add(timer)
          place = @timers.bsearch_index { |other| other.deadline > timer.deadline }
          @timers.insert(place || -1, timer)
        end

        # Removes a timer.
        #
        # @param timer [#deadline, #expire] may have expired already
        # @return [void]
        def remove(timer)
          place = @timers.bsearch_index { |other| other.deadline >= timer.deadline }
          return unless place

          place += 1 until @timers[place].nil? || @timers[place].equal?(timer) || @timers[place].deadline > timer.deadline
          @timers.delete_at(place) if @timers[place].equal?(timer)
        end

        # Expires the timers whose deadline has passed.
        #
        # @param now [Float]
        # @return [void]
        def expire(now)
          expire_first while @timers.any? && @timers.first.deadline <= now
        end

        private

        # The timer remains in the list until it has expired, even if an exception is raised first.
        def expire_first
          timer = @timers.first
          timer.expire
          remove(timer)
        end
      end
    end
  end
end
