# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # Whatever has a deadline, the soonest first.
      class Timers
        def initialize
          @timers = []
        end

        # @return [Integer]
        def size
          @timers.size
        end

        # @return [Float, nil] as {Pure.now} counts
        def next_deadline
          @timers.first&.deadline
        end

        # @param timer [#deadline, #expire]
        # @return [void]
        def add(timer)
          place = @timers.bsearch_index { |other| other.deadline > timer.deadline }
          @timers.insert(place || -1, timer)
        end

        # @param timer [#deadline, #expire] perhaps one that has expired
        # @return [void]
        def remove(timer)
          place = @timers.bsearch_index { |other| other.deadline >= timer.deadline }
          return unless place

          place += 1 until @timers[place].nil? || @timers[place].equal?(timer) || @timers[place].deadline > timer.deadline
          @timers.delete_at(place) if @timers[place].equal?(timer)
        end

        # @param now [Float]
        # @return [void]
        def expire(now)
          expire_first while @timers.any? && @timers.first.deadline <= now
        end

        private

        # It is there until it has expired, whatever is raised before.
        def expire_first
          timer = @timers.first
          timer.expire
          remove(timer)
        end
      end
    end
  end
end
