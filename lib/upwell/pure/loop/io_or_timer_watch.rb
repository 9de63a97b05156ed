# frozen_string_literal: true

module Upwell
  module Pure
    class Loop
      # A watch of an IO or a time, identified by its key. Once it has fired, its event awaits delivery.
      IOOrTimerWatch = Struct.new(:key, :io, :write, :deadline, :interval, :recurring, :fired, :ended) do
        # @return [Boolean] whether the watch has not ended and its IO is open
        def live?
          !ended && !io&.closed?
        end

        # @return [Boolean] whether the event is still to come
        def waits?
          live? && !fired
        end

        # @return [Boolean]
        def ready?(readable, writable, now)
          return deadline <= now if deadline

          (write ? writable : readable).key?(io)
        end

        # Marks the watch as fired.
        #
        # @param unusable [Hash{IO => true}, nil] IOs without further events
        # @return [self] an event
        def fire(unusable)
          self.recurring = false if unusable&.key?(io)
          self.fired = true
          self
        end

        # Rearms the watch. A late timer does not catch up on missed intervals.
        #
        # @return [void]
        def go_on(now)
          self.fired = false
          return unless deadline

          following = deadline + interval
          self.deadline = following.nan? ? now : [following, now].max # the sum of two infinities may be NaN
        end
      end
      private_constant :IOOrTimerWatch
    end
  end
end
