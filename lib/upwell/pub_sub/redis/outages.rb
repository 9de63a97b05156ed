# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../log"

module Upwell
  module PubSub
    class Redis
      # Tracks outages of Redis for all connections of a process. The log has one record for the loss and one for the recovery: the first
      # connection that is lost, and the last one that is back.
      class Outages
        # @return [Integer] the number of outages
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

        # Records a lost connection.
        #
        # @param who [Object] the owner of the connection
        # @param born [Float, nil] the time when it was established; if this was before the last outage, the connection ended with that outage
        # @param error [Exception]
        def lost(who, born, error)
          @lock.synchronize do
            next if @lost.include?(who) || (born && before_last?(born))

            begin_outage(error) if @lost.empty?
            @lost << who
          end
        end

        # Records a new connection.
        #
        # @param who [Object] the owner of the connection
        def back(who)
          @lock.synchronize do
            next unless @lost.delete(who)

            @change.broadcast # the other connections can try immediately
            Log.tell("publish/subscribe: connected to Redis again (#{@place})") if @lost.empty?
          end
        end

        # @return [Boolean]
        def any?
          !@began.nil?
        end

        # @param moment [Float]
        # @return [Boolean] whether the last outage began after that time
        def since?(moment)
          @lock.synchronize { before_last?(moment) }
        end

        # Waits before the next attempt, until another connection succeeds.
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
          reason = @place.hide(error.message).lines.first.to_s.chomp.delete_suffix(" (#{@place})")
          Log.tell("publish/subscribe: lost the connection to Redis (#{@place}): #{reason}; reconnecting")
        end
      end
    end
  end
end
