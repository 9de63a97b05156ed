# backtick_javascript: true
# frozen_string_literal: true

require "upwell/pile"
require "upwell/runtime/uwebsockets/sending"

module Upwell
  module Runtime
    class UWebSockets
      # How responses are sent whose content comes in pieces. What the client does not take waits here, but for the last piece: of what the
      # runtime keeps it does not tell when it is sent.
      module Pieces
        include Sending

        `const PIECE = 65536` # bytes

        # @param head [Head] after which pieces follow
        # @return [void]
        def begin(client, head)
          watch(client)
          cork(client) do
            write_head(client, head)
            `client.res.writeHeader("connection", "close")` if `self.draining`
          end
          %x{
            client.pile = #{Pile.new};
            client.res.onWritable(() => {
              #{go_on(client)};
              return true;
            });
          }
        end

        # @return [void]
        def write(client, data)
          return if `client.gone`

          `client.pile`.add(`typeof data === "string" ? Buffer.from(data) : data`)
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

        # @return [Integer] bytes that the client has not taken
        def behind(client)
          `client.kept + #{`client.pile`.size}`
        end

        private

        # As much as the runtime does not have to keep. Corked, it sends what it has kept.
        def give(client)
          %x{
            client.res.cork(() => {
              while (client.kept === 0 && #{`client.pile`.size} > 0) {
                const piece = #{`client.pile`.take(`PIECE`)};

                if (!client.res.write(piece)) client.kept = piece.length;
              }
            });
          }
        end

        # The client takes more.
        def go_on(client)
          `client.kept = 0`
          give(client)
          return unless behind(client).zero?

          `const drained = client.drained`
          `client.drained = null`
          `drained?.()`
          end_late(client) if `client.ending`
        end

        # The runtime may have something left of it.
        def end_late(client)
          `self.late = performance.now()`
          end_pieces(client)
        end

        # To close it the runtime would write a header here, amid the chunks.
        def end_pieces(client)
          cork(client) { `client.res.end()` }
          finished(client)
          `client.left?.()`
        end
      end
    end
  end
end
