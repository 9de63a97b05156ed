# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../log"

module Upwell
  module PubSub
    class Redis
      # Whether Redis is there, as a process's connections find. The operator is told once that it is lost, and once that it is back: of several
      # connections, whoever notices first, and the last one.
      class Outages
        # @return [Integer] how many there were
        attr_reader :count

        # @param place [Address]
        def initialize(place)
          @place = place
          @lost = []
          @count = 0
          @began = nil
          @lock = Mutex.new
          @change = ConditionVariable.new
        end

        # @param who [Object] whose connection it was, or was to be
        # @param born [Float, nil] when that was established: before the last outage it is only now noticed that it ended then
        # @param error [Exception]
        def lost(who, born, error)
          @lock.synchronize do
            next if @lost.include?(who) || (born && before_last?(born))

            begin_outage(error) if @lost.empty?
            @lost << who
          end
        end

        # @param who [Object] has a connection
        def back(who)
          @lock.synchronize do
            next unless @lost.delete(who)

            @change.broadcast # others need not wait to try
            Log.tell("publish/subscribe: Redis is back (#{@place})") if @lost.empty?
          end
        end

        # @param moment [Float]
        # @return [Boolean] whether the last one has begun since
        def since?(moment)
          @lock.synchronize { before_last?(moment) }
        end

        # Waits to try again, unless another one has succeeded.
        #
        # @param seconds [Float]
        def pause(seconds)
          @lock.synchronize { @change.wait(@lock, seconds) }
        end

        private

        def before_last?(moment)
          !@began.nil? && moment < @began
        end

        def begin_outage(error)
          @began = Clock.now
          @count += 1
          reason = error.message.lines.first.to_s.chomp.delete_suffix(" (#{@place})")
          Log.tell("publish/subscribe: Redis is lost (#{@place}): #{reason}; trying again")
        end
      end
    end
  end
end
