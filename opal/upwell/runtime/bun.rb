# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/last_clients"
require "upwell/recent_fields"
require "upwell/runtime/bun/answers"
require "upwell/runtime/bun/newcomers"
require "upwell/runtime/bun/staying"
require "upwell/server"
require "upwell/upload"

module Upwell
  module Runtime
    # Bun's own HTTP server. It bounds the heads of requests itself, and their content as it is told.
    class Bun
      include Answers
      include Staying

      REQUIRED = "Bun does not tell which clients have shown a certificate; say --client-certificate required, or leave out --ca-file"
      SILENCE_MAX = 255 # seconds, as far as Bun counts

      %x{
        const http = require("http");

        // A request, and the response to it: one that is ready, or will be.
        class Client {
          constructor(req, local) {
            this.req = req;
            this.local = local;
            this.response = null;
            this.resolve = null;
            this.pieces = null; // the controller of a stream
            this.gone = false;
            this.left = null; // called when it goes
            this.drained = null; // called when it has taken what there was
          }
        }

        const refuse = status => {
          const text = status + " " + http.STATUS_CODES[status] + "\n";

          return new Response(text, { status, headers: { "content-type": "text/plain", "connection": "close" } });
        };
      }

      # @param server [Server]
      # @param options [Configuration]
      def initialize(server, options)
        @server = server
        @options = options
        @envs = Env.new(self)
        @listeners = `[]`
        @headers = RecentFields.new { |fields| headers(fields) }
        @draining = false
      end

      # @see Server#listen
      def listen(address, &told)
        tls = address.tls
        %x{
          const local = { tls: #{tls_env(tls)} }, settings = Object.assign(#{limits}, #{place(address)});

          settings.websocket = #{WebSocket.behavior(@options)};
          settings.fetch = (req, server) => #{receive(`req`, `local`)};
          if (tls !== nil) settings.tls = #{secure_context(tls)};
          local.server = globalThis.Bun.serve(settings);
          self.listeners.push(local.server);
          #{told.call(`local.server.port || 0`, nil)};
        }
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        told.call(nil, `e.code || #{e.message}`)
      end

      # Those who are connected are served: a request may be on its way. When Bun stops listening, it closes what is idle, too. As long as new
      # clients come with requests, one after another, it has no turn for timers: then it is such a request that is late.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        @ended = ended
        @latest = `performance.now() + #{@server.grace_ms}`
        `setTimeout(() => #{shut}, #{@server.grace_ms})`
      end

      # Of whoever comes from now on the kernel does not tell: there will be turns for timers.
      #
      # @see Newcomers.drop
      def drop(numbers, _milliseconds)
        dropped = Newcomers.drop(numbers)
        @latest = `Infinity` if dropped
        yield dropped
      end

      # Certificates are read once.
      #
      # @see Server#renew
      def renew; end

      # Tells the env what the request has.
      def describe(envs, env, client)
        %x{
          const url = client.req.url, given = client.req.headers.toJSON(), fields = [];

          for (const name in given) fields.push(name, Array.isArray(given[name]) ? given[name].join(", ") : given[name]);
          const target = url[0] === "/" ? url : url.slice(url.indexOf("/", 8));

          return #{envs.add(env, `client.req.method`, `target`, "HTTP/1.1", `fields`, connection(client))};
        }
      end

      private

      def hurry
        @shutting ? stop : shut
      end

      def shut
        return if @shutting

        @shutting = true
        @latest = Calm.latest
        LastClients.await(`self.listeners.map(listener => listener.port)`, -> { 0 }, @options.drain_timeout, self) do
          `setTimeout(() => #{stop}, #{@server.grace_ms})` # the last have yet to ask
        end
      end

      def stop
        return if @stopped

        @stopped = true
        %x{
          const stopped = Promise.all(self.listeners.map(listener => listener.stop()));
          const timer = setInterval(() => self.listeners.forEach(listener => listener.closeIdleConnections?.()), #{@server.grace_ms});

          stopped.then(() => {
            clearInterval(timer);
            #{@server.await_idle(&@ended)};
          });
        }
      end

      def limits
        %x{
          return {
            development: false, idleTimeout: #{silence_max}, maxRequestBodySize: #{@options.body_bytes_max}, error: error => { throw error; }
          };
        }
      end

      # @return [Integer] seconds
      def silence_max
        `Math.min(#{SILENCE_MAX}, Math.ceil(#{@options.keep_alive_timeout}))`
      end

      def place(address)
        return `{ unix: #{address.path} }` if address.path

        `{ hostname: #{address.host || `undefined`}, port: #{address.port}, reusePort: #{address.shared} }`
      end

      def secure_context(tls)
        credentials = Credentials.new(tls)
        raise ArgumentError, REQUIRED if credentials.asks_clients? && !credentials.requires_clients?

        %x{
          return {
            cert: #{credentials.cert}, key: #{credentials.key}, ca: #{credentials.authorities || `undefined`},
            requestCert: #{credentials.asks_clients?}, rejectUnauthorized: #{credentials.asks_clients?}
          };
        }
      end

      # What the runtime tells of it.
      def tls_env(tls)
        tls && { "HTTPS" => "on", "SSL_CLIENT_VERIFY" => tls[:client_certificate] == "required" ? "SUCCESS" : "NONE" }
      end

      # @return [JavaScript Response, JavaScript Promise]
      def receive(req, local)
        %x{
          const client = new Client(req, local);

          if (self.draining && performance.now() > self.latest) #{hurry};
          if (req.body !== null) return #{upload(`client`)};
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
        upload = Upload.new(@options) do |status|
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

      def connection(client)
        %x{
          const server = client.local.server, remote = server.requestIP(client.req) || {};

          return #{Connection.new(`remote.address || nil`, `remote.port || nil`, `server.hostname || nil`, `server.port || nil`,
                                  `client.local.tls`)};
        }
      end
    end
  end

  RUNTIME = Runtime::Bun
end
