# frozen_string_literal: true

require_relative "../../clock"

module Upwell
  module PubSub
    class Redis
      # Opens connections, and reconnects after a loss.
      class Reconnection
        PAUSE_MIN = 0.05 # seconds between attempts, doubled each time
        PAUSE_MAX = 1.0

        # @param address [Address]
        # @param outages [Outages]
        def initialize(address, outages)
          @address = address
          @outages = outages
        end

        # Tries until a connection is open. After a short-lived connection there is a pause, too.
        #
        # @return [Connection]
        def open
          @opened && Clock.now - @opened < PAUSE_MAX ? wait : @pause = PAUSE_MIN
          connection = connect
          @outages.back(self)
          @opened = proven
          connection
        end

        # Records that the connection is lost.
        #
        # @param error [RedisClient::Error] the reason
        def lost(error)
          @outages.lost(self, @born, error)
        end

        # @return [Boolean] whether another connection was lost since this one last worked
        def doubtful?
          @outages.since?(@born)
        end

        # @return [Boolean] whether Redis was unreachable since the process first used it
        def outage?
          @outages.any?
        end

        # Records that Redis has answered.
        #
        # @return [Float] the time
        def proven
          @born = Clock.now
        end

        private

        def connect
          @address.connect
        rescue RedisClient::Error => e
          @outages.lost(self, nil, e)
          wait
          retry
        end

        def wait
          @outages.pause(@pause)
          @pause = [@pause * 2, PAUSE_MAX].min
        end
      end
    end
  end
end
