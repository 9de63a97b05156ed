# backtick_javascript: true
# frozen_string_literal: true

require "upwell/connection_info"
require "upwell/tls_credentials"
require "upwell/rack_env"
require "upwell/accept_queue_drain"
require "upwell/js_error"
require "upwell/log"
require "upwell/timer_milliseconds"
require "upwell/response_header_cache"
require "upwell/runtime/node/response_sender"
require "upwell/runtime/node/file_sender"
require "upwell/runtime/node/request_reader"
require "upwell/runtime/node/connection_upgrade"
require "upwell/runtime/node/tls_env"
require "upwell/server"

module Upwell
  module Runtime
    # Node's own HTTP server.
    class Node
      include ResponseSender
      include FileSender
      include RequestReader
      include ConnectionUpgrade

      `const http = require("http"), https = require("https"), net = require("net")`

      # @param server [Server]
      # @param options [Configuration]
      def initialize(server, options)
        @server = server
        @options = options
        @envs = RackEnv.new(self, options.underscores_in_headers)
        @listeners = `[]`
        @fields_max = 2 * options.headers_max
        @target_max = options.target_bytes_max
        @write_ms = TimerMilliseconds.of(options.write_timeout)
        @heads = ResponseHeaderCache.new { |fields| head_text(fields) }
        @kept = "\r\nConnection: keep-alive\r\nKeep-Alive: timeout=#{options.keep_alive_timeout.floor}\r\n\r\n"
        @draining = false
        @met = 0 # accepted clients
      end

      # @see Server#listen
      def listen(address, &told)
        listener = make_listener(address)
        %x{
          const failed = error => #{told.call(nil, `error.code || error.message`)};

          listener.once("error", failed);
          listener.listen(#{place(address)}, () => {
            listener.off("error", failed);
            listener.on("error", error => #{tell_refused(`error`)});
            self.listeners.push(listener);
            #{told.call(`listener.address().port || 0`, nil)};
          });
        }
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own, of files that cannot be read
        raise e if ConfigurationError === e

        told.call(nil, e.message)
      end

      # Serves the connected clients. These include clients in the accept queue, which this iteration and the next accept, and keep-alive clients
      # with a request in transit.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        %x{
          const close = listener => new Promise(resolve => net.Server.prototype.close.call(listener, resolve));
          const finish = () => {
            const timer = setInterval(() => self.listeners.forEach(listener => #{close_idle(`listener`)}), #{@server.grace_ms});

            Promise.all(self.listeners.map(close)).then(() => { clearInterval(timer); #{ended.call}; });
          };
        }
        AcceptQueueDrain.await(`self.listeners.map(listener => listener.address().port)`, -> { @met }, @options.drain_timeout) { `finish()` }
      end

      # @see Server#renew
      def renew
        %x{
          self.listeners.forEach(listener => {
            if (listener.$$tls !== nil) listener.setSecureContext(#{secure_context(`listener.$$tls`)});
          });
        }
      end

      # Adds the request's values to the env.
      def describe(envs, env, req)
        protocol = `req.httpVersionMinor === 0 ? "HTTP/1.0" : "HTTP/1.1"`
        envs.add(env, `req.method`, `req.$$path || req.url`, protocol, `req.rawHeaders`, `req.socket.$$connection`)
      end

      private

      def tell_refused(error)
        Log.tell("cannot accept connections: #{JsError.reason(error)}; new clients wait; " \
                 "check the limit of open files (ulimit -n) and free memory")
      end

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
          listener.maxHeadersCount = 0; // the server checks the limit itself: Node would drop further fields silently
          listener.$$tls = tls;
          listener.$$sockets = new Set();
          listener.$$shaking = new Set();
          if (tls !== nil) #{attend_handshakes(`listener`)};
          listener.on(tls === nil ? "connection" : "secureConnection", socket => #{meet(`listener`, `socket`)});
          listener.on("checkContinue", (req, res) => #{receive_expectant(`req`, `res`)});
          listener.on("upgrade", (req, socket, ahead) => #{receive_upgrade(`listener`, `req`, `socket`, `ahead`)});
        }
        `listener`
      end

      def limits
        %x{
          return {
            keepAliveTimeout: #{TimerMilliseconds.of(@options.keep_alive_timeout)},
            headersTimeout: #{TimerMilliseconds.of(@options.head_timeout)}, handshakeTimeout: #{TimerMilliseconds.of(@options.head_timeout)},
            requestTimeout: 0, connectionsCheckingInterval: 1000,
            maxHeaderSize: #{@options.head_bytes_max}, noDelay: true
          };
        }
      end

      # If certificates are optional, a client with an untrusted certificate is refused here.
      def secure_context(tls)
        credentials = TLSCredentials.new(tls)
        %x{
          return {
            cert: #{credentials.cert}, key: #{credentials.key}, ca: #{credentials.authorities || `undefined`},
            requestCert: #{credentials.asks_clients?}, rejectUnauthorized: #{credentials.requires_clients?},
            secureOptions: #{credentials.options}
          };
        }
      end

      # Node's server does not know connections during the handshake, and would wait for all of them.
      def attend_handshakes(listener)
        %x{
          const shaking = listener.$$shaking;

          listener.on("connection", socket => {
            shaking.add(socket);
            socket.once("close", () => shaking.delete(socket));
          });
          listener.on("secureConnection", socket => shaking.delete(socket._parent));
        }
      end

      # Reads the connection's addresses now, because they are unknown once it has ended. The same connection may come again, with a request that
      # is received again.
      def meet(listener, socket)
        @met += 1
        %x{
          if (socket.$$connection) return;
          if (listener.$$tls !== nil && !socket.authorized && socket.getPeerX509Certificate && socket.getPeerX509Certificate()) socket.destroy();
          if (socket.destroyed) return;
          socket.$$connection = #{make_connection(socket)};
          listener.$$sockets.add(socket);
          socket.once("close", () => listener.$$sockets.delete(socket));
        }
      end

      # For Node, connections without a request are not idle, but those with an ended and unsent response are. Incomplete handshakes are closed,
      # too: they had enough time.
      def close_idle(listener)
        %x{
          const sockets = [...listener.$$sockets];

          if (!sockets.some(socket => socket.writableLength > 0)) listener.closeIdleConnections();
          sockets.forEach(socket => { if (socket.bytesRead === 0) socket.destroy(); });
          listener.$$shaking.forEach(socket => socket.destroy());
        }
      end

      def make_connection(socket)
        tls = `socket.encrypted` ? TLSEnv.of(socket) : nil
        ConnectionInfo.new(`socket.remoteAddress || nil`, `socket.remotePort || nil`, `socket.localAddress || nil`, `socket.localPort || nil`,
                           tls)
      end
    end
  end

  RUNTIME = Runtime::Node
end
