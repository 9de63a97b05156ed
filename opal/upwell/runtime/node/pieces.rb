# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class Node
      # How responses are sent whose content comes in pieces. The client is a ServerResponse.
      module Pieces
        PIECE_BYTES = 512 # that one that waits costs besides its own: one of a byte takes room, too

        # @param head [Head] after which pieces follow
        # @return [void]
        def begin(res, head)
          write_head(res, head, head.length)
          `res.flushHeaders()`
        end

        # @return [void]
        def write(res, data)
          %x{
            if (res.writableLength === 0) res.write(data);
            else {
              res.$$waiting = (res.$$waiting || 0) + 1;
              res.write(data, () => { res.$$waiting--; });
            }
          }
        end

        # Nothing: a piece leaves while the application goes on.
        #
        # @see Response#flush
        def holds?(_bytes)
          false
        end

        # @return [Integer] bytes that the client has not taken
        def behind(res)
          `res.writableLength + (res.$$waiting || 0) * #{PIECE_BYTES}`
        end
      end
    end
  end
end
