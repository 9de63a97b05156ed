# frozen_string_literal: true

module Upwell
  module Pure
    class Scheduler
      # Converts durations as Ruby does for threads.
      module DurationConversion
        FOREVER = 2**63 # seconds, more than Ruby can count
        private_constant :FOREVER

        private

        # Converts a duration of `sleep` or IO#wait.
        def seconds(duration)
          return if duration.nil?
          raise TypeError, "can't convert #{duration.class} into time interval" unless duration.respond_to?(:divmod)
          raise ArgumentError, "time interval must not be negative" if duration.negative?

          refuse_out_of_range(duration) unless duration < FOREVER # NaN is not less than any number
          Float(duration)
        end

        # Converts a duration of Timeout.timeout. A value beyond the clock's range, such as Infinity, means no limit.
        def seconds_or_forever(duration)
          seconds(duration) if !duration.nil? && ArgumentConversion.float(duration) < FOREVER
        end

        # Converts a duration of Thread#join or Queue#pop. A negative time has already passed.
        def seconds_to_block(duration)
          !duration.nil? && ArgumentConversion.float(duration).negative? ? 0.0 : seconds_or_forever(duration)
        end

        def refuse_out_of_range(duration)
          ArgumentConversion.integer(duration.floor) unless duration.is_a?(Float)
          raise RangeError, "#{format("%f", duration)} out of Time range"
        end
      end
      private_constant :DurationConversion
    end
  end
end
