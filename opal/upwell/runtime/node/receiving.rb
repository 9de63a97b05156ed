# backtick_javascript: true
# frozen_string_literal: true

require "upwell/upload"

module Upwell
  module Runtime
    class Node
      # How requests come.
      module Receiving
        LINGER_MS = 2_000 # in which a client that was refused can read why

        `const http = require("http")`

        private

        def receive(req, res)
          %x{
            const fields = req.rawHeaders;
            let framing = 0;

            if (fields.length > self.fields_max) return #{refuse(req, res, 431)};
            if (req.url.length > self.target_max) return #{refuse(req, res, 414)};
            for (let i = 0; i < fields.length; i += 2) {
              const length = fields[i].length;

              if (length === 14 && fields[i].toLowerCase() === "content-length") framing = +fields[i + 1];
              else if (length === 17 && fields[i].toLowerCase() === "transfer-encoding") framing = -1;
            }
            if (framing === 0) #{serve(req, res, nil)};
            else if (framing > #{@options.body_bytes_max}) #{refuse(req, res, 413)};
            else #{upload(req, res)};
          }
        end

        # Of one who waits for a word before it sends the content. Node would put that amid a response that waits for those before it.
        def receive_expectant(req, res)
          receive(req, res)
          %x{
            const encourage = () => { if (!res._header && !req.complete) res.writeContinue(); };

            if (res.socket === null) res.once("socket", encourage);
            else encourage();
          }
        end

        def serve(req, res, content)
          @server.serve(res, @envs.make(req, content), `req.method === "HEAD"`)
        end

        def upload(req, res)
          upload = Upload.new(@options) { |status| refuse(req, res, status) }
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

            req.once("close", over); // which does not come when the response has ended before the request,
            res.once("close", over); // and this one not while other responses are before it
          }
        end

        # Whoever still sends would not read the answer if the connection were closed at once.
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
