# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"

module Upwell
  module Runtime
    class Bun
      # Sends responses.
      module ResponseSender
        %x{
          const fs = require("fs");
          const WHOLE_MAX = 1048576; // bytes of a file that is sent in one piece

          const give = (client, response) => {
            if (client.resolve) client.resolve(response);
            else client.response = response;
          };
        }

        # @param client [JavaScript Client]
        # @param head [ResponseHead]
        # @param data [JavaScript String, JavaScript Uint8Array] the whole content
        # @return [void]
        def answer(client, head, data)
          `give(client, new Response(#{content(head, data)}, #{start(head)}))`
        end

        # Bun adds `content-length: 0` to a response without a body, unless the response has one of these fields.
        #
        # @param length [Integer, nil] the content length of a GET
        # @return [void]
        def answer_without_content(client, head, length)
          if length
            `head.fields.push("content-length", "" + length)`
          elsif !head.bodiless?
            `head.fields.push("transfer-encoding", "chunked")`
          end
          `give(client, new Response(null, #{start(head)}))`
        end

        # Sends a file. A larger one is sent in pieces: for a file given by its path, Bun would send its name to the client, and an open file
        # would remain open.
        #
        # @param path [String]
        # @return [Boolean] false when the file is missing, or has another length than the head says
        def answer_file(client, head, path)
          file = FileBody.open(path, head.length)
          return false unless file
          return answer(client, head, FileBody.read(file)) || true if `file.size <= WHOLE_MAX`

          @server.hold
          %x{
            const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });

            content.on("close", () => #{@server.release});
            give(client, new Response(content, #{start(head)}));
          }
          true
        end

        # @param head [ResponseHead] the head, which pieces follow
        # @return [void]
        def begin(client, head)
          silence(client, 0)
          `const pieces = new ReadableStream(#{source(client)}, new ByteLengthQueuingStrategy({ highWaterMark: 0 }))`
          `give(client, new Response(pieces, #{start(head)}))`
        end

        # @return [void]
        def write(client, data)
          `client.pieces.enqueue(typeof data === "string" ? Buffer.from(data) : data)` if `data.length > 0`
        end

        # @return [void]
        def finish(client)
          return if `client.gone`

          silence(client, silence_max)
          `client.pieces.close()`
          `client.left?.()`
        end

        # Closes the connection, so that the client does not take an incomplete response for complete.
        #
        # @return [void]
        def abort(client)
          return if `client.gone`

          `client.pieces ? client.pieces.error(new Error("the response is incomplete")) : give(client, new Response(null, { status: 500 }))`
        end

        # @return [Boolean] whether the client has disconnected
        def gone?(client)
          `client.gone`
        end

        # Bun sends no data within the call.
        #
        # @see StreamedResponse#flush
        def holds?(_bytes)
          true
        end

        # @return [Integer] bytes that the client has not received
        def behind(client)
          `-client.pieces.desiredSize`
        end

        private

        # Creates the stream from which Bun reads.
        def source(client)
          %x{
            return {
              start(controller) { client.pieces = controller; },
              pull() {
                const drained = client.drained;

                client.drained = null;
                drained?.();
              },
              cancel() {
                client.gone = true;
                if (client.left) client.left();
              }
            };
          }
        end

        # Sets the time without sent data after which the connection is closed; 0: no limit.
        def silence(client, seconds)
          `client.local.server.timeout(client.req, seconds)`
        end

        # Converts the content: for text and bytes, Bun would add a content type that the application did not set.
        def content(head, data)
          %x{
            if (data.length === 0) return null;
            for (let i = 0; i < head.fields.length; i += 2)
              if (head.fields[i].length === 12 && head.fields[i].toLowerCase() === "content-type") return data;
            return new ReadableStream({ start(controller) { controller.enqueue(Buffer.from(data)); controller.close(); } });
          }
        end

        def start(head)
          %x{
            if (self.draining || head.close) head.fields.push("connection", "close");
            return { status: head.status, headers: #{@headers.made_of(`head.fields`)} };
          }
        end

        def headers(fields)
          %x{
            const headers = new Headers();

            for (let i = 0; i < fields.length; i += 2) headers.append(fields[i], fields[i + 1]);
            return headers;
          }
        end
      end
    end
  end
end
