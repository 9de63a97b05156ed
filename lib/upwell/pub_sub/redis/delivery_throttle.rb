# frozen_string_literal: true

require_relative "../../clock"

module Upwell
  module PubSub
    class Redis
      # Slows delivery while a subscriber's block is behind. After an outage many messages arrive together, and a block's queue has a limit, so
      # further messages wait in Redis. The total wait is limited, because one slow block must not delay the others without end.
      class DeliveryThrottle
        EVERY = 64 # messages between checks: fewer than half of a queue
        PAUSE = 0.005 # seconds
        WAIT_MAX = 20.0 # seconds
        REGAINED = 0.1 # of the seconds since the last check

        def initialize
          @count = 0
          @left = WAIT_MAX
          @looked = Clock.now
        end

        # Waits if necessary. Call this method before each delivery.
        #
        # @return [void]
        def keep
          @count += 1
          return if @count < EVERY

          @count = 0
          regain
          wait while behind? && @left.positive?
        end

        private

        def behind?
          CLUSTER.stats.fetch(:behind, 0).positive?
        end

        def regain
          now = Clock.now
          @left = [@left + ((now - @looked) * REGAINED), WAIT_MAX].min
          @looked = now
        end

        def wait
          began = Clock.now
          sleep(PAUSE)
          @left -= Clock.now - began
        end
      end
    end
  end
end
