# backtick_javascript: true
# frozen_string_literal: true

require "upwell/authority"
require "upwell/request_framing"
require "upwell/request_body_receiver"

module Upwell
  module Runtime
    class Node
      # Receives requests.
      module RequestReader
        LINGER_MS = 2_000 # in which a refused client can read the reason

        `const http = require("http"), AUTHORITY = #{Authority}, FRAMING = #{RequestFraming}, CHUNKED = #{RequestFraming::CHUNKED}, WRONG = #{RequestFraming::BAD_REQUEST}`

        private

        def receive(req, res)
          %x{
            if (req.rawHeaders.length > self.fields_max) return #{refuse(req, res, 431)};
            if (req.url.length > self.target_max) return #{refuse(req, res, 414)};
            const framing = #{framing(`req.rawHeaders`)};

            if (framing < CHUNKED) return #{refuse(req, res, `-framing`)};
            if (req.url[0] !== "/" && !#{split_target(req)}) return #{refuse(req, res, 400)};
            if (framing === 0) #{serve_at_once(req, res)};
            else if (framing > #{@options.body_bytes_max}) #{refuse(req, res, 413)};
            else #{upload(req, res)};
          }
        end

        # @return [JavaScript Number] the content's length; CHUNKED; or a status below zero
        def framing(fields)
          %x{
            let framing = 0, hosts = 0;

            for (let i = 0; i < fields.length; i += 2) {
              const length = fields[i].length;

              if (length !== 4 && length !== 14 && length !== 17) continue;
              const name = fields[i].toLowerCase(), value = fields[i + 1];

              if (name === "content-length") framing = +value;
              else if (name === "transfer-encoding") framing = FRAMING.$coding(value);
              else if (name === "host" && (++hosts > 1 || (value !== "" && !AUTHORITY['$valid?'](value)))) return WRONG;
            }
            return framing;
          }
        end

        # Replaces the Host field by the target's host (RFC 9112, section 3.2.2).
        #
        # @return [Boolean] whether the target has a supported form
        def split_target(req)
          %x{
            if (req.url === "*") return req.method === "OPTIONS";
            const parts = AUTHORITY.$split(req.url), fields = req.rawHeaders;

            if (parts === nil) return false;
            req.$$path = parts[1];
            for (let i = 0; i < fields.length; i += 2) if (fields[i].toLowerCase() === "host") fields[i + 1] = parts[0];
            return true;
          }
        end

        # Sends 100 Continue to a client that expects it. Node would insert it into an earlier response that is not complete.
        def receive_expectant(req, res)
          receive(req, res)
          %x{
            const encourage = () => { if (!res._header && !req.complete) res.writeContinue(); };

            if (res.socket === null) res.once("socket", encourage);
            else encourage();
          }
        end

        # A request without content: marked as ended, its stream needs no turns of the loop, as with `optimizeEmptyRequests` of Node 24.
        def serve_at_once(req, res)
          %x{
            const state = req._readableState;

            req._dumped = true;
            state.ended = state.endEmitted = state.destroyed = state.closed = state.closeEmitted = true;
          }
          serve(req, res, nil)
        end

        def serve(req, res, content)
          @server.serve(res, @envs.make(req, content), `req.method === "HEAD"`)
        end

        def upload(req, res)
          upload = RequestBodyReceiver.new(@options) { |status| refuse(req, res, status) }
          @server.hold
          %x{
            req.on("data", chunk => #{upload.add(`chunk`)});
            req.on("end", () => { if (!#{upload.ended?}) #{serve(req, res, upload.finish)}; });
            const over = () => {
              req.off("close", over);
              res.off("close", over);
              #{upload.stop};
              #{@server.release};
            };

            req.once("close", over); // this event is missing when the response ends before the request
            res.once("close", over); // this event is missing while earlier responses wait
          }
        end

        # The connection lingers: a client that still sends would not read the answer after an immediate close.
        def refuse(req, res, status)
          %x{
            const socket = req.socket, text = status + " " + http.STATUS_CODES[status] + "\n";

            socket.destroySoon = () => #{linger(`socket`)};
            req.resume();
            res.shouldKeepAlive = false;
            res.writeHead(status, ["content-type", "text/plain", "content-length", "" + text.length]);
            res.end(text);
          }
        end

        def linger(socket)
          %x{
            socket.end();
            setTimeout(() => socket.destroy(), #{LINGER_MS}).unref();
          }
        end
      end
    end
  end
end
