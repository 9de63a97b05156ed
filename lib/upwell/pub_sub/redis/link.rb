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

        # Tries until there is one.
        #
        # @return [Wire]
        def open
          pause = PAUSE_MIN
          begin
            connection = @address.connect
          rescue RedisClient::Error => e
            @outages.lost(self, nil, e)
            @outages.pause(pause)
            pause = [pause * 2, PAUSE_MAX].min
            retry
          end
          @outages.back(self)
          proven
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
        def proven
          @born = Clock.now
        end
      end
    end
  end
end
