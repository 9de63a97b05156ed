# backtick_javascript: true
# frozen_string_literal: true

require "upwell/runtime/node/buffered_writer"

module Upwell
  module Runtime
    class Node
      # Sends responses whose content comes in pieces. The client is a ServerResponse.
      module ResponseStreaming
        # @param head [ResponseHead] the head, which pieces follow
        # @return [void]
        def begin(res, head)
          write_head(res, head, head.length)
          `res.flushHeaders()`
          `res.$$outlet = #{BufferedWriter.new(res)}`
        end

        # @return [void]
        def write(res, data)
          `res.$$outlet`.write(data)
        end

        # @return [void]
        def finish(res)
          return unless `res.$$outlet`

          bound(res)
          `res.$$outlet`.finish { end_with(res, `undefined`) }
        end

        # Node sends a piece while the application runs, and delays no data.
        #
        # @see StreamedResponse#flush
        def holds?(_bytes)
          false
        end

        # @return [Integer] bytes that the client has not received
        def behind(res)
          `res.$$outlet`.behind
        end
      end
    end
  end
end
