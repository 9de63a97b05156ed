# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/file_body"
require "upwell/recent_fields"
require "upwell/server"
require "upwell/upload"

module Upwell
  module Runtime
    # Node's own HTTP server.
    class Node
      LINGER_MS = 2_000 # in which a client that was refused can read why
      IDLE_MS = 500 # for a request on its way on a kept connection as draining begins
      ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

      `const MUCH = 16_384` # bytes, which the kernel may not take at once
      `const fs = require("fs"), http = require("http"), https = require("https"), net = require("net"), stream = require("stream")`

      %x{
        const statusLine = status => "HTTP/1.1 " + status + " " + (http.STATUS_CODES[status] || "unknown") + "\r\n";
        let date, changes = 0;

        const dateLine = () => {
          const now = Date.now();

          if (now >= changes) {
            date = "Date: " + new Date(now).toUTCString() + "\r\n";
            changes = now - now % 1000 + 1000;
          }
          return date;
        };
      }

      # @param server [Server]
      # @param options [Configuration]
      def initialize(server, options)
        @server = server
        @options = options
        @envs = Env.new(self)
        @listeners = `[]`
        @fields_max = 2 * options.headers_max
        @target_max = options.target_bytes_max
        @write_ms = options.write_timeout * 1000
        @heads = RecentFields.new { |fields| head_text(fields) }
        @kept = "\r\nConnection: keep-alive\r\nKeep-Alive: timeout=#{options.keep_alive_timeout.floor}\r\n\r\n"
        @draining = false
        @met = 0 # clients
      end

      # @see Server#listen
      def listen(address, &told)
        listener = make_listener(address)
        %x{
          const failed = error => #{told.call(nil, `error.code || error.message`)};

          listener.once("error", failed);
          listener.listen(#{place(address)}, () => {
            listener.off("error", failed);
            self.listeners.push(listener);
            #{told.call(`listener.address().port || 0`, nil)};
          });
        }
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own, of files that cannot be read
        told.call(nil, e.message)
      end

      # Those who are connected are served: clients in the backlog, who are accepted in this turn of the loop and the next, and whoever has a
      # request on its way on a kept connection.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        %x{
          const close = listener => new Promise(resolve => net.Server.prototype.close.call(listener, resolve));
          const timer = setInterval(() => self.listeners.forEach(listener => #{close_idle(`listener`)}), #{IDLE_MS});

          const end = () => { clearInterval(timer); #{ended.call}; };
        }
        Calm.await(-> { @met }) { `Promise.all(self.listeners.map(close)).then(end)` }
      end

      # @see Server#renew
      def renew
        %x{
          self.listeners.forEach(listener => {
            if (listener.$$tls !== nil) listener.setSecureContext(#{secure_context(`listener.$$tls`)});
          });
        }
      end

      # Tells the env what the request has.
      def describe(envs, env, req)
        envs.add(env, `req.method`, `req.url`, `req.httpVersionMinor === 0` ? "HTTP/1.0" : "HTTP/1.1", `req.rawHeaders`, connection(`req.socket`))
      end

      # @param res [JavaScript ServerResponse]
      # @param head [Head]
      # @param data [JavaScript String, JavaScript Uint8Array] all of the content
      # @return [void]
      def answer(res, head, data)
        %x{
          if (typeof data === "string" && head.beyond_ascii) data = Buffer.from(data); // else it would leave in one piece with the head, as UTF-8
          const length = typeof data === "string" ? Buffer.byteLength(data) : data.length;

          if (self.draining || head.close || !res.shouldKeepAlive) #{write_head(res, head, `length`)};
          else #{write_usual_head(res, head, `length`)};
          res.end(data);
          if (length > MUCH && res.writableLength > 0 && res.socket) res.socket.setTimeout(self.write_ms);
        }
      end

      # @param length [Integer, nil] what is told of the content that there would be
      # @return [void]
      def answer_without_content(res, head, length)
        write_head(res, head, length)
        `res.end()`
      end

      # @param path [String]
      # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
      def answer_file(res, head, path)
        file = FileBody.open(path, head.length)
        return false unless file

        write_head(res, head, `file.size`)
        @server.hold
        %x{
          const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });

          if (res.socket) res.socket.setTimeout(self.write_ms);
          stream.pipeline(content, res, () => {
            if (content.bytesRead < file.size) #{abort(res)};
            #{@server.release};
          });
        }
        true
      end

      # @param head [Head] after which pieces follow
      # @return [void]
      def begin(res, head)
        write_head(res, head, head.length)
        `res.flushHeaders()`
      end

      # @return [void]
      def write(res, data)
        `res.write(data)`
      end

      # @return [void]
      def finish(res)
        `res.end()`
      end

      # Ends the connection, so that the client does not take what it has for the whole.
      #
      # @return [void]
      def abort(res)
        `res.socket?.resetAndDestroy()`
      end

      # The client has the connection from now on.
      #
      # @param res [JavaScript ServerResponse]
      # @param head [Head]
      # @param client [Client]
      # @return [void]
      def accept(res, head, client)
        deflate = Deflate.agree(client.env["HTTP_SEC_WEBSOCKET_EXTENSIONS"])
        own = ["Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Accept", accept_key(client.env["HTTP_SEC_WEBSOCKET_KEY"])]
        own += ["Sec-WebSocket-Extensions", deflate.answer] if deflate
        %x{
          const socket = res.socket, fields = own.concat(head.fields, ["Date", new Date().toUTCString()]);
          let text = "HTTP/1.1 101 Switching Protocols\r\n";

          for (let i = 0; i < fields.length; i += 2) text += fields[i] + ": " + fields[i + 1] + "\r\n";
          res.detachSocket(socket);
          socket.setTimeout(0);
          socket.write(text + "\r\n", "latin1");
          #{WebSocket.new(client, `socket`, @options, deflate).begin(`res.$$ahead`)};
        }
      end

      # Tells the line of a response that does not end by itself when the client has left.
      def attend(res, line)
        `res.once("close", () => #{line.gone})`
      end

      # @yield when all that was written has been sent
      def await_drained(res, &drained)
        `res.socket?.write("", error => { if (!error) #{drained.call}; })`
      end

      # @return [Boolean] whether the client has left
      def gone?(res)
        `res.destroyed || res.socket === null || res.socket.destroyed`
      end

      # @return [Integer] bytes that the client has not taken
      def behind(res)
        `res.writableLength`
      end

      private

      def place(address)
        path = address.path
        path ? `{ path: path }` : `{ host: #{address.host}, port: #{address.port} }`
      end

      def make_listener(address)
        tls = address.tls
        %x{
          const settings = tls === nil ? #{limits} : Object.assign(#{limits}, #{secure_context(tls)});
          const listener = (tls === nil ? http : https).createServer(settings, (req, res) => #{receive(`req`, `res`)});

          listener.maxConnections = #{@options.connections_max};
          listener.$$tls = tls;
          listener.$$fresh = new Set(); // connections that have not asked for anything
          listener.on(tls === nil ? "connection" : "secureConnection", socket => #{meet(`listener`, `socket`)});
          listener.on("upgrade", (req, socket, ahead) => #{receive_upgrade(`listener`, `req`, `socket`, `ahead`)});
        }
        `listener`
      end

      def limits
        %x{
          return {
            keepAliveTimeout: #{@options.keep_alive_timeout * 1000}, headersTimeout: #{@options.head_timeout * 1000}, requestTimeout: 0,
            connectionsCheckingInterval: 1000, maxHeaderSize: #{@options.head_bytes_max}, noDelay: true
          };
        }
      end

      # Whom none of the authorities knows is refused here, where a client needs no certificate.
      def secure_context(tls)
        credentials = Credentials.new(tls)
        %x{
          return {
            cert: #{credentials.cert}, key: #{credentials.key}, ca: #{credentials.authorities || `undefined`},
            requestCert: #{credentials.asks_clients?}, rejectUnauthorized: #{credentials.requires_clients?}
          };
        }
      end

      def meet(listener, socket)
        @met += 1
        %x{
          if (listener.$$tls !== nil && !socket.authorized && socket.getPeerX509Certificate && socket.getPeerX509Certificate()) socket.destroy();
          listener.$$fresh.add(socket);
          socket.once("close", () => listener.$$fresh.delete(socket));
        }
      end

      def close_idle(listener)
        %x{
          listener.closeIdleConnections();
          listener.$$fresh.forEach(socket => { if (socket.bytesRead === 0) socket.destroy(); });
        }
      end

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

      # Node gives up the connection with such a request. Whoever asks for something else than a WebSocket is answered as if it had not asked
      # (RFC 9110, section 7.8).
      def receive_upgrade(listener, req, socket, ahead)
        env = @envs.make(req, nil)
        return receive_again(listener, req, socket, ahead) unless small?(req) && env["rack.upgrade?"] == :websocket

        %x{
          const res = new http.ServerResponse(req);

          socket.on("error", () => {});
          res.assignSocket(socket);
          res.shouldKeepAlive = false;
          res.once("finish", () => socket.destroySoon());
          res.$$ahead = ahead;
        }
        @server.serve(`res`, env, false)
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

      # RFC 6455, section 4.2.2.
      def accept_key(key)
        `require("crypto").createHash("sha1").update(key + #{ACCEPT_GUID}).digest("base64")`
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
          req.once("close", () => {
            #{upload.stop};
            #{@server.release};
          });
        }
      end

      # Whoever still sends would not read the answer if the connection were closed at once.
      def refuse(req, res, status)
        %x{
          const socket = req.socket, text = status + " " + http.STATUS_CODES[status] + "\n";

          socket.destroySoon = () => {
            socket.end();
            setTimeout(() => socket.destroy(), #{LINGER_MS}).unref();
          };
          req.resume();
          res.shouldKeepAlive = false;
          res.writeHead(status, ["content-type", "text/plain", "content-length", "" + text.length]);
          res.end(text);
        }
      end

      # What Node would write, which looks at each field again, and for what may follow.
      def write_usual_head(res, head, length)
        %x{
          const text = #{@heads.made_of(`head.fields`)};

          res.statusCode = head.status;
          res._header = statusLine(head.status) + text.fields + (text.dated ? "" : dateLine()) + "content-length: " + length + self.kept;
        }
      end

      def head_text(fields)
        %x{
          let text = "", dated = false;

          for (let i = 0; i < fields.length; i += 2) {
            text += fields[i] + ": " + fields[i + 1] + "\r\n";
            if (fields[i].length === 4 && fields[i].toLowerCase() === "date") dated = true;
          }
          return { fields: text, dated };
        }
      end

      def write_head(res, head, length)
        %x{
          if (length !== nil) head.fields.push("content-length", "" + length);
          if (self.draining || head.close) res.shouldKeepAlive = false;
          res.writeHead(head.status, head.fields);
        }
      end

      def connection(socket)
        `socket.$$connection || (socket.$$connection = #{make_connection(socket)})`
      end

      def make_connection(socket)
        tls = `socket.encrypted` ? tls_env(socket) : nil
        %x{
          return #{Connection.new(`socket.remoteAddress || nil`, `socket.remotePort || nil`, `socket.localAddress || nil`,
                                  `socket.localPort || nil`, tls)};
        }
      end

      def tls_env(socket)
        env = { "HTTPS" => "on", "SSL_PROTOCOL" => `socket.getProtocol()`, "SSL_CIPHER" => `socket.getCipher().name`,
                "SSL_CLIENT_VERIFY" => "NONE" }
        env["SSL_TLS_SNI"] = `socket.servername` if `socket.servername`
        certificate = `socket.getPeerX509Certificate() || nil`
        certificate ? env.merge(client_env(certificate)) : env
      end

      def client_env(certificate)
        { "SSL_CLIENT_VERIFY" => "SUCCESS", "SSL_CLIENT_CERT" => `certificate.toString()`,
          "SSL_CLIENT_S_DN" => `certificate.subject.split("\n").reverse().join(",")`,
          "SSL_CLIENT_I_DN" => `certificate.issuer.split("\n").reverse().join(",")`, "SSL_CLIENT_M_SERIAL" => `certificate.serialNumber` }
      end
    end
  end

  RUNTIME = Runtime::Node
end

require "upwell/runtime/node/web_socket"
