# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"
require "upwell/runtime/uwebsockets/response_streaming"
require "upwell/runtime/uwebsockets/response_writer"

module Upwell
  module Runtime
    class UWebSockets
      # Sends responses while the client is connected.
      module ResponseSender
        include ResponseWriter
        include ResponseStreaming

        %x{
          const fs = require("fs");
          const MUCH = 65536; // bytes; a larger response may not be sent immediately
        }

        # @param client [JavaScript Client]
        # @param head [ResponseHead]
        # @param data [JavaScript String, JavaScript Uint8Array] the whole content
        # @return [void]
        def answer(client, head, data)
          %x{
            if (client.gone) return nil;
            if (data.length > MUCH) return #{answer_much(client, head, data)};
            if (client.later) client.res.cork(() => #{end_with(client, head, data)});
            else #{end_with(client, head, data)};
            return nil;
          }
        end

        # @param length [Integer, nil] the length that the content would have
        # @return [void]
        def answer_without_content(client, head, length)
          cork(client) do
            write_head(client, head)
            `client.res.writeHeader("content-length", "" + length)` unless length.nil?
            `client.res.writeHeader("connection", "close")` if `head.close || client.last || self.draining`
            `client.res.pause()` if `client.last`
            `client.res.endWithoutBody()` # with a length, the runtime would take the response for incomplete
            finished(client)
          end
        end

        # @param path [String]
        # @return [Boolean] false when the file is missing, or has another length than the head says
        def answer_file(client, head, path)
          file = FileBody.open(path, head.length)
          return false unless file
          return answer(client, head, FileBody.read(file)) || true if `file.size <= MUCH`

          %x{
            const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });
            const next = () => content.resume();

            content.pause();
            content.on("data", chunk => { if (!#{offer(client, `chunk`, `file.size`, `next`)}) content.pause(); });
            content.on("close", () => { if (!client.gone && client.res && content.bytesRead < file.size) #{abort(client)}; });
            content.on("error", () => {});
            #{hold(client) { `content.destroy()` }};
            client.res.cork(() => #{write_head(client, head)});
            content.resume();
          }
          true
        end

        # Closes the connection, so that the client does not take an incomplete response for complete.
        #
        # The close must not happen within the request's call: the runtime sends earlier responses only after it.
        #
        # @return [void]
        def abort(client)
          return if `client.res === null`

          watch(client)
          `setImmediate(() => client.res?.close())`
        end

        # @return [Boolean] whether the client has disconnected
        def gone?(client)
          `client.gone`
        end

        # Small data written within the call is sent after it.
        #
        # @see StreamedResponse#flush
        def holds?(bytes)
          `bytes <= MUCH`
        end

        private

        def end_with(client, head, data)
          %x{
            #{write_head(client, head)};
            client.res.end(data, head.close || client.last || self.draining);
            client.res = null;
            if (self.draining) self.late = performance.now(); // it may not be sent immediately, either
          }
        end

        def answer_much(client, head, data)
          %x{
            const bytes = typeof data === "string" ? Buffer.from(data) : data;

            #{hold(client) { nil }};
            client.res.cork(() => {
              #{write_head(client, head)};
              #{offer(client, `bytes`, `bytes.length`, `() => {}`)};
            });
          }
          nil
        end
      end
    end
  end
end
