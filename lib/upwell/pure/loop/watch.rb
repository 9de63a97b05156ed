# frozen_string_literal: true

module Upwell
  module Pure
    class Loop
      # A key that waits for an IO or a time; its event awaits delivery when it has fired.
      Watch = Struct.new(:key, :io, :write, :deadline, :interval, :recurring, :fired, :ended) do
        # @return [Boolean] neither ended nor of a closed IO
        def live?
          !ended && !io&.closed?
        end

        # @return [Boolean] its event is still to come
        def waits?
          live? && !fired
        end

        # @return [Boolean]
        def ready?(readable, writable, now)
          return deadline <= now if deadline

          (write ? writable : readable).key?(io)
        end

        # @param unusable [Hash{IO => true}, nil] of which there is nothing more to tell
        # @return [self] an event
        def fire(unusable)
          self.recurring = false if unusable&.key?(io)
          self.fired = true
          self
        end

        # A timer that is late does not make up for what it missed.
        #
        # @return [void]
        def go_on(now)
          self.fired = false
          return unless deadline

          following = deadline + interval
          self.deadline = following.nan? ? now : [following, now].max # of two infinities
        end
      end
      private_constant :Watch
    end
  end
end
