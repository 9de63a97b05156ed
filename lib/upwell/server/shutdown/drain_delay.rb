# frozen_string_literal: true

module Upwell
  class Server
    module Shutdown
      # The time from a stop signal to draining. Load balancers need it to learn that the server wants no more clients.
      class DrainDelay
        # Starts the thread now: at the stop signal the system may be out of threads.
        #
        # @param seconds [Numeric]
        # @yield at the end of the delay, on another thread
        # @raise [ThreadError] when the system has no thread left
        def initialize(seconds, &ended)
          @begun = Thread::Queue.new
          @thread = Thread.new do
            cause = @begun.pop
            sleep(seconds)
            ended.call(cause)
          end
          @thread.name = "upwell drain delay"
        end

        # Starts the delay.
        #
        # @param cause [String] of the stop, for the block
        def begin(cause)
          @begun << cause
        end

        # Ends the delay without a call of the block.
        def cancel
          @thread.kill
        end
      end
    end
  end
end
