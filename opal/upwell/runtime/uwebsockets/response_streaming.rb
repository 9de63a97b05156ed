# backtick_javascript: true
# frozen_string_literal: true

require "upwell/byte_queue"
require "upwell/runtime/uwebsockets/response_writer"

module Upwell
  module Runtime
    class UWebSockets
      # Sends responses whose content comes in pieces. Unsent pieces wait here, except the last one: the runtime does not report when its own
      # buffer is sent.
      module ResponseStreaming
        include ResponseWriter

        `const PIECE = 65536` # bytes

        # @param head [ResponseHead] the head, which pieces follow
        # @return [void]
        def begin(client, head)
          watch(client)
          cork(client) do
            write_head(client, head)
            `client.res.writeHeader("connection", "close")` if `client.last || self.draining`
          end
          %x{
            client.queue = #{ByteQueue.new};
            client.res.onWritable(() => {
              #{go_on(client)};
              return true;
            });
          }
        end

        # @return [void]
        def write(client, data)
          return if `client.gone`

          `client.queue`.add(`typeof data === "string" ? Buffer.from(data) : data`)
          give(client) if `client.kept === 0`
        end

        # @return [void]
        def finish(client)
          return if `client.gone`
          return end_pieces(client) if behind(client).zero?

          left = `client.left`
          hold(client) { `left?.()` }
          `client.ending = true`
        end

        # @return [Integer] bytes that the client has not received
        def behind(client)
          `client.kept + #{`client.queue`.size}`
        end

        private

        # Writes pieces until the runtime has to buffer one. The cork makes it send its buffer.
        def give(client)
          %x{
            client.res.cork(() => {
              while (client.kept === 0 && #{`client.queue`.size} > 0) {
                const piece = #{`client.queue`.take(`PIECE`)};

                if (!client.res.write(piece)) client.kept = piece.length;
              }
            });
          }
        end

        # Continues when the client can receive more.
        def go_on(client)
          `client.kept = 0`
          give(client)
          return unless behind(client).zero?

          `const drained = client.drained`
          `client.drained = null`
          `drained?.()`
          end_late(client) if `client.ending`
        end

        # Ends the response late: the runtime may still have a rest of it.
        def end_late(client)
          `self.late = performance.now()`
          end_pieces(client)
        end

        # The runtime would write a Connection header here, between the chunks, to close the connection. So reading is paused instead, and the
        # connection is closed after about 10 s of idle time.
        def end_pieces(client)
          `client.res.pause()` if `client.last`
          cork(client) { `client.res.end()` }
          finished(client)
          `client.left?.()`
        end
      end
    end
  end
end
