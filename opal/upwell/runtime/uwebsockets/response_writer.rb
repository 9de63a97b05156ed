# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  module Runtime
    class UWebSockets
      # Writes the parts of a response, and tracks the client until it is answered.
      module ResponseWriter
        `const http = require("http")`
        `const statusLine = status => status + " " + (http.STATUS_CODES[status] || "Unknown")`

        private

        def write_head(client, head)
          `if (head.status !== 200) client.res.writeStatus(statusLine(head.status))`
          write_fields(client, head)
        end

        def write_fields(client, head)
          %x{
            const res = client.res, fields = head.fields;

            for (let i = 0; i < fields.length; i += 2) {
              const value = fields[i + 1];

              if (fields[i].length === 4 && fields[i].toLowerCase() === "date") continue; // the runtime writes its own
              res.writeHeader(fields[i], head.beyond_ascii ? Buffer.from(value, "latin1") : value);
            }
          }
        end

        # Sends a part of the content. The unsent rest is sent when the client can receive it.
        #
        # @return [Boolean] whether all was sent; otherwise `following` is called later
        def offer(client, bytes, total, following)
          %x{
            const start = client.res.getWriteOffset();
            const give = offset => {
              const [taken, complete] = client.res.tryEnd(bytes.subarray(offset - start), total, client.last || self.draining);

              if (complete) #{complete(client)};
              return taken || complete;
            };

            if (give(start)) return true;
            client.res.onWritable(offset => {
              const taken = give(offset);

              if (taken) following();
              return taken;
            });
            return false;
          }
        end

        def complete(client)
          `client.res = null`
          `client.left = null`
          @server.release
        end

        def finished(client)
          `client.res = null`
        end

        # Counts the request as in flight until it is answered.
        def hold(client, &left)
          @server.hold
          watch(client)
          `client.left = () => { #{left.call}; #{@server.release}; }`
        end

        def watch(client)
          %x{
            if (client.later) return;
            client.later = true;
            client.res.onAborted(() => {
              client.gone = true;
              client.res = null;
              if (client.left) client.left();
            });
          }
        end

        def cork(client, &block)
          `client.later ? client.res.cork(() => #{block.call}) : #{block.call}`
        end
      end
    end
  end
end
