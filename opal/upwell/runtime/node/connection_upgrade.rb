# backtick_javascript: true
# frozen_string_literal: true

require "upwell/runtime/node/websocket_connection"

module Upwell
  module Runtime
    class Node
      # Long-lived clients.
      module ConnectionUpgrade
        ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        `const http = require("http")`

        # Hands the connection over to a long-lived client.
        #
        # @param res [JavaScript ServerResponse]
        # @param head [ResponseHead]
        # @param client [Client]
        # @return [void]
        def accept(res, head, client)
          deflate = PermessageDeflate.agree(client.env["HTTP_SEC_WEBSOCKET_EXTENSIONS"])
          own = ["Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept", accept_key(client.env["HTTP_SEC_WEBSOCKET_KEY"])]
          own += ["Sec-WebSocket-Extensions", deflate.answer] if deflate
          %x{
            const socket = res.socket, fields = own.concat(head.fields, ["Date", new Date().toUTCString()]);
            let text = "HTTP/1.1 101 Switching Protocols\r\n";

            for (let i = 0; i < fields.length; i += 2) text += fields[i] + ": " + fields[i + 1] + "\r\n";
            res.detachSocket(socket);
            socket.setTimeout(0);
            socket.cork(); // see Client#opened
            socket.write(text + "\r\n", "latin1");
            #{WebSocketConnection.new(client, `socket`, @options, deflate).begin(`res.$$ahead`)};
            socket.uncork();
          }
        end

        # Data written within the block is sent at its end.
        def hold_back(res)
          `res.cork()`
          yield
        ensure
          `res.uncork()`
        end

        # Notifies the line of an endless response when the client has disconnected.
        def attend(res, line)
          `res.once("close", () => #{line.gone})`
          end_with_connection(res)
        end

        # @yield when all written data has been sent
        def await_drained(res, &drained)
          %x{
            const ask = socket => socket.write("", error => { if (!error) #{drained.call}; });

            if (res.socket === null) res.once("socket", ask);
            else ask(res.socket);
          }
        end

        private

        # Node detaches the connection after such a request. A request for another protocol than WebSocket is answered normally (RFC 9110,
        # section 7.8). If an earlier response is still unsent, this one could not follow it, so the connection is closed.
        def receive_upgrade(listener, req, socket, ahead)
          return leave_upgrade(socket) if `socket._httpMessage`

          env = @envs.make(req, nil)
          return receive_again(listener, req, socket, ahead) unless small?(req) && plain_target?(req) && for_websocket?(env)

          %x{
            const res = new http.ServerResponse(req);

            socket.on("error", () => {});
            socket.on("timeout", () => socket.destroy());
            res.assignSocket(socket);
            res.shouldKeepAlive = false;
            res.once("finish", () => socket.destroySoon());
            res.$$ahead = ahead;
          }
          @server.serve(`res`, env, false)
        end

        def for_websocket?(env)
          env["rack.upgrade?"] == :websocket || Upgrade.other_version?(env)
        end

        def leave_upgrade(socket)
          `socket.on("error", () => {})`
          linger(socket)
        end

        def receive_again(listener, req, socket, ahead)
          %x{
            const fields = req.rawHeaders;
            let text = req.method + " " + req.url + " HTTP/" + req.httpVersion + "\r\n";

            for (let i = 0; i < fields.length; i += 2) {
              if (fields[i].toLowerCase() !== "upgrade") text += fields[i] + ": " + fields[i + 1] + "\r\n";
            }
            socket.unshift(Buffer.concat([Buffer.from(text + "\r\n", "latin1"), ahead]));
            listener.emit(listener.$$tls === nil ? "connection" : "secureConnection", socket);
          }
        end

        def small?(req)
          `req.rawHeaders.length <= self.fields_max && req.url.length <= self.target_max && !("transfer-encoding" in req.headers)`
        end

        # Checks whether {#receive} would accept host and target unchanged.
        def plain_target?(req)
          %x{
            const [host = "", ...others] = req.headersDistinct.host || [];

            return req.url[0] === "/" && others.length === 0 && (host === "" || #{Authority.valid?(`host`)});
          }
        end

        # Computes the accept key (RFC 6455, section 4.2.2).
        def accept_key(key)
          `require("crypto").createHash("sha1").update(key + #{ACCEPT_GUID}).digest("base64")`
        end
      end
    end
  end
end
