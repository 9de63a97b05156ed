# backtick_javascript: true
# frozen_string_literal: true

require "upwell/authority"
require "upwell/request_framing"
require "upwell/request_body_receiver"

module Upwell
  module Runtime
    class Bun
      # Receives requests.
      module RequestReader
        %x{
          const http = require("http"), AUTHORITY = #{Authority}, FRAMING = #{RequestFraming};

          // A request with its response, which exists already or comes later.
          class Client {
            constructor(req, local) {
              this.req = req;
              this.local = local;
              this.response = this.resolve = null;
              this.pieces = null; // the controller of a stream
              this.gone = false;
              this.left = null; // called when the client disconnects
              this.drained = null; // called when the client has received all data
            }
          }

          const refuse = status => {
            const text = status + " " + http.STATUS_CODES[status] + "\n";

            return new Response(text, { status, headers: { "content-type": "text/plain", "connection": "close" } });
          };

          // If the answer is immediate, Bun continues with further data of the same packet. So the answer comes later.
          const refuse_last = status => new Promise(resolve => setImmediate(() => resolve(refuse(status))));
        }

        private

        # @return [JavaScript Response, JavaScript Promise]
        def receive(req, local)
          %x{
            const host = req.headers.get("host"), client = new Client(req, local);

            if (host && !AUTHORITY['$valid?'](host)) return refuse_last(400);
            if (self.draining && performance.now() > self.latest) #{hurry};
            if (req.body !== null) {
              const length = req.headers.get("content-length");

              if (length !== null && FRAMING.$length(length) < 0) return refuse_last(400);
              return #{upload(`client`)};
            }
            #{serve(`client`, nil)};
            return client.response !== null ? client.response : new Promise(resolve => { client.resolve = resolve; });
          }
        end

        def serve(client, content)
          env = @envs.make(client, content)
          @server.serve(client, env, `client.req.method === "HEAD"`)
          `env.leave()`
        end

        # @return [JavaScript Promise]
        def upload(client)
          `const reader = client.req.body.getReader(), response = new Promise(resolve => { client.resolve = resolve; })`
          upload = RequestBodyReceiver.new(@options) do |status|
            `client.resolve(refuse(status))`
            `reader.cancel().catch(() => {})`
          end
          read_on(client, `reader`, upload)
          `response`
        end

        def read_on(client, reader, upload)
          @server.hold
          %x{
            const read = async () => {
              for (;;) {
                const { done, value } = await reader.read();

                if (#{upload.ended?}) return false;
                if (done) return true;
                #{upload.add(`Buffer.from(value.buffer, value.byteOffset, value.length)`)};
              }
            };
            const fail = () => {
              #{upload.stop};
              client.resolve(refuse(client.req.signal.aborted ? 400 : 413));
            };

            read().then(whole => { if (whole) #{serve(client, upload.finish)}; }, fail).finally(() => #{@server.release});
          }
        end
      end
    end
  end
end
