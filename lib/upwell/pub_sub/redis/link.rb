# frozen_string_literal: true

require_relative "../../clock"

module Upwell
  module PubSub
    class Redis
      # A connection that is made anew when it was lost.
      class Link
        PAUSE_MIN = 0.05 # seconds between attempts, doubled each time
        PAUSE_MAX = 1.0

        # @param address [Address]
        # @param outages [Outages]
        def initialize(address, outages)
          @address = address
          @outages = outages
        end

        # Tries until there is one. One that has not lived for long is made anew after a pause, too.
        #
        # @return [Wire]
        def open
          @opened && Clock.now - @opened < PAUSE_MAX ? wait : @pause = PAUSE_MIN
          connection = connect
          @outages.back(self)
          @opened = proven
          connection
        end

        # @param error [RedisClient::Error] by which it ended
        def lost(error)
          @outages.lost(self, @born, error)
        end

        # @return [Boolean] whether another connection was lost since this one was known to live
        def doubtful?
          @outages.since?(@born)
        end

        # Redis has answered.
        #
        # @return [Float] when
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
