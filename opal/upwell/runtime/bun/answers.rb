# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"

module Upwell
  module Runtime
    class Bun
      # How requests are answered.
      module Answers
        %x{
          const fs = require("fs");
          const WHOLE_MAX = 1048576; // bytes of a file that is sent in one piece

          const give = (client, response) => {
            if (client.resolve) client.resolve(response);
            else client.response = response;
          };
        }

        # @param client [JavaScript Client]
        # @param head [Head]
        # @param data [JavaScript String, JavaScript Uint8Array] all of the content
        # @return [void]
        def answer(client, head, data)
          `give(client, new Response(#{content(head, data)}, #{start(head)}))`
        end

        # @param length [Integer, nil] what is told of the content that there would be
        # @return [void]
        def answer_without_content(client, head, length)
          `head.fields.push("content-length", "" + length)` unless length.nil?
          `give(client, new Response(null, #{start(head)}))`
        end

        # What is not small goes out in pieces: of a file that is given to Bun by its path it would tell the client the name, and one that is
        # open stays open.
        #
        # @param path [String]
        # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
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

        # @param head [Head] after which pieces follow
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

        # Ends the connection, so that the client does not take what it has for the whole.
        #
        # @return [void]
        def abort(client)
          return if `client.gone`

          `client.pieces ? client.pieces.error(new Error("the response is incomplete")) : give(client, new Response(null, { status: 500 }))`
        end

        # @return [Boolean] whether the client has left
        def gone?(client)
          `client.gone`
        end

        # Nothing leaves within the call.
        #
        # @see Response#flush
        def holds?(_bytes)
          true
        end

        # @return [Integer] bytes that the client has not taken
        def behind(client)
          `-client.pieces.desiredSize`
        end

        private

        # What the runtime reads from.
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

        # From now on the connection is ended after so many seconds in which nothing was sent; 0: not.
        def silence(client, seconds)
          `client.local.server.timeout(client.req, seconds)`
        end

        # Of text and bytes Bun would tell a type where the application tells none.
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
