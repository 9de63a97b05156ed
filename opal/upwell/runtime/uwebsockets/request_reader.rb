# backtick_javascript: true
# frozen_string_literal: true

require "upwell/authority"
require "upwell/request_framing"
require "upwell/runtime/uwebsockets/response_writer"
require "upwell/request_body_receiver"

module Upwell
  module Runtime
    class UWebSockets
      # Receives requests.
      module RequestReader
        include ResponseWriter

        %x{
          const http = require("http"), AUTHORITY = #{Authority}, FRAMING = #{RequestFraming};
          const CHUNKED = #{RequestFraming::CHUNKED}, WRONG = #{RequestFraming::BAD_REQUEST};
        }

        private

        def receive(client)
          framing = framing(client)
          %x{
            if (framing < CHUNKED) return #{refuse(client, `-framing`)};
            client.last = framing === CHUNKED;
            if (framing === 0) #{serve(client, nil)};
            else if (framing > self.body_max) #{refuse(client, 413)};
            else #{upload(client)};
          }
        end

        # @return [JavaScript Number] the content's length; CHUNKED; or a status below zero
        def framing(client)
          %x{
            const fields = client.fields;
            let framing = 0, framings = 0, hosts = 0;

            if (fields.length > self.fields_max) return -431;
            if (client.target.length > self.target_max) return -414;
            for (let i = 0; i < fields.length; i += 2) {
              const name = fields[i], value = fields[i + 1];

              if (name === "content-length") framing = FRAMING.$length(value), ++framings;
              else if (name === "transfer-encoding") framing = FRAMING.$coding(value), ++framings;
              else if (name === "host" && (++hosts > 1 || (value !== "" && !AUTHORITY['$valid?'](value)))) return WRONG;
            }
            return framings > 1 ? WRONG : framing;
          }
        end

        def serve(client, content)
          env = @envs.make(client, content)
          @server.serve(client, env, `client.method === "HEAD"`)
          `env.leave()`
        end

        # A request that is answered neither within its call nor at the end of its content has to know when the client disconnects.
        def upload(client)
          upload = RequestBodyReceiver.new(@options) do |status|
            finished_upload(client)
            refuse(client, status)
          end
          hold(client) { upload.stop }
          %x{
            client.res.onData((chunk, last) => {
              #{upload.add(`Buffer.from(new Uint8Array(chunk))`)};
              if (!last || #{upload.ended?}) return;
              if (client.last) #{upload.stop}, setImmediate(() => #{serve_upload(client, upload)});
              else #{serve_upload(client, upload)};
            });
          }
        end

        def serve_upload(client, upload)
          return if `client.gone`

          finished_upload(client)
          serve(client, upload.finish)
        end

        def finished_upload(client)
          `client.left = null`
          @server.release
        end

        # The refusal comes after the request's call: within it, the runtime would continue with further data. Until then, such data ends the
        # connection.
        def refuse(client, status)
          hold(client) { nil }
          `setImmediate(() => { if (!client.gone) #{tell_refusal(client, status)}; })`
        end

        def tell_refusal(client, status)
          line = "#{status} #{`http.STATUS_CODES[status]`}"
          cork(client) { `client.res.writeStatus(line).writeHeader("content-type", "text/plain").end(line + "\n", true)` }
          complete(client)
        end
      end
    end
  end
end
