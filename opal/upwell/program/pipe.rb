# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # The runtime's channel between a supervisor and a worker, at either end. Who has gone hears nothing, which is no failure.
    class Pipe
      WAITING_BYTES_MAX = 8 << 20 # of what was published
      MESSAGE_BYTES = 512 # that each takes beside its own

      # @param process [JavaScript ChildProcess] the worker, or this process, where the supervisor is at the other end
      def initialize(process)
        @process = process
        @waiting = 0
      end

      # @param message [JavaScript Object]
      # @yield once it has left, or cannot
      # @return [void]
      def tell(message, &sent)
        sent ||= -> {}
        %x{
          if (self.process.connected) self.process.send(message, () => #{sent.call});
          else #{sent.call};
        }
      end

      # Of somebody who stands still, what is more than may wait is dropped.
      #
      # @param message [JavaScript Object] with channel and message in `published`
      # @return [void]
      def publish(message)
        bytes = MESSAGE_BYTES + `message.published[0].length + message.published[1].length`
        return if @waiting + bytes > WAITING_BYTES_MAX

        @waiting += bytes
        tell(message) { @waiting -= bytes }
      end
    end
  end
end
