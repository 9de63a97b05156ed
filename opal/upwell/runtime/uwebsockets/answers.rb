# backtick_javascript: true
# frozen_string_literal: true

require "upwell/file_body"
require "upwell/runtime/uwebsockets/sending"

module Upwell
  module Runtime
    class UWebSockets
      # How requests are answered, as long as the client is there.
      module Answers
        include Sending

        %x{
          const fs = require("fs");
          const MUCH = 65536; // bytes; more may not leave at once
        }

        # @param client [JavaScript Client]
        # @param head [Head]
        # @param data [JavaScript String, JavaScript Uint8Array] all of the content
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

        # @param length [Integer, nil] what is told of the content that there would be
        # @return [void]
        def answer_without_content(client, head, length)
          cork(client) do
            write_head(client, head)
            `client.res.writeHeader("content-length", "" + length)` unless length.nil?
            `client.res.writeHeader("connection", "close")` if `head.close || self.draining`
            `client.res.endWithoutBody()` # told of a length, the runtime would take the response for unfinished
            finished(client)
          end
        end

        # @param path [String]
        # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
        def answer_file(client, head, path)
          file = FileBody.open(path, head.length)
          return false unless file

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

        # @param head [Head] after which pieces follow
        # @return [void]
        def begin(client, head)
          watch(client)
          cork(client) { write_head(client, head) }
          %x{
            client.res.onWritable(() => {
              const drained = client.drained;

              client.behind = 0;
              client.drained = null;
              drained?.();
              return true;
            });
          }
        end

        # @return [void]
        def write(client, data)
          cork(client) { `client.res.write(data) || (client.behind += data.length)` } unless `client.gone`
        end

        # @return [void]
        def finish(client)
          return if `client.gone`

          cork(client) { `client.res.end()` } # to close it the runtime would write a header here, amid the chunks
          finished(client)
          `client.left?.()`
        end

        # Ends the connection, so that the client does not take what it has for the whole.
        #
        # @return [void]
        def abort(client)
          `client.res?.close()`
        end

        # @return [Boolean] whether the client has left
        def gone?(client)
          `client.gone`
        end

        # @return [Integer] bytes that the client has not taken
        def behind(client)
          `client.behind`
        end

        private

        def end_with(client, head, data)
          %x{
            #{write_head(client, head)};
            client.res.end(data, head.close || self.draining);
            client.res = null;
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
