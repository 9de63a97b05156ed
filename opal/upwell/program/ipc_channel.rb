# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # The runtime's channel between a supervisor and a worker, at either end. Messages to a process that has exited are ignored.
    class IPCChannel
      WAITING_BYTES_MAX = 8 << 20 # of published messages
      MESSAGE_BYTES = 512 # counted in addition to each message

      # @param process [JavaScript ChildProcess] the worker; or, in a worker, this process
      def initialize(process)
        @process = process
        @waiting = 0
      end

      # Sends a message.
      #
      # @param message [JavaScript Object]
      # @yield once the message is sent, or cannot be sent
      # @return [void]
      def tell(message, &sent)
        sent ||= -> {}
        %x{
          if (self.process.connected) self.process.send(message, () => #{sent.call});
          else #{sent.call};
        }
      end

      # Sends a published message. If the other process does not read, messages beyond the limit are dropped.
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
