# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/log"
require "upwell/recent_fields"
require "upwell/runtime/node/answers"
require "upwell/runtime/node/files"
require "upwell/runtime/node/staying"
require "upwell/runtime/node/tls_env"
require "upwell/server"
require "upwell/upload"

module Upwell
  module Runtime
    # Node's own HTTP server.
    class Node
      include Answers
      include Files
      include Staying

      LINGER_MS = 2_000 # in which a client that was refused can read why
      IDLE_MS = 500 # for a request on its way on a kept connection as draining begins

      `const http = require("http"), https = require("https"), net = require("net")`

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
            listener.on("error", error => #{Log.tell(`"cannot accept a connection: " + error.message`)});
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
        protocol = `req.httpVersionMinor === 0 ? "HTTP/1.0" : "HTTP/1.1"`
        envs.add(env, `req.method`, `req.url`, protocol, `req.rawHeaders`, `req.socket.$$connection`)
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

      # What is known of the connection is asked for at once: once it has ended, nobody knows. It may come again, with a request that is received
      # again.
      def meet(listener, socket)
        @met += 1
        %x{
          if (socket.$$connection) return;
          if (listener.$$tls !== nil && !socket.authorized && socket.getPeerX509Certificate && socket.getPeerX509Certificate()) socket.destroy();
          if (socket.destroyed) return;
          socket.$$connection = #{make_connection(socket)};
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

      def make_connection(socket)
        tls = `socket.encrypted` ? TLSEnv.of(socket) : nil
        Connection.new(`socket.remoteAddress || nil`, `socket.remotePort || nil`, `socket.localAddress || nil`, `socket.localPort || nil`, tls)
      end
    end
  end

  RUNTIME = Runtime::Node
end
