# backtick_javascript: true
# frozen_string_literal: true

require "upwell/accept_queue_idle_wait"
require "upwell/connection_info"
require "upwell/tls_credentials"
require "upwell/rack_env"
require "upwell/accept_queue_drain"
require "upwell/response_header_cache"
require "upwell/runtime/bun/response_sender"
require "upwell/runtime/bun/drop_syns_before_close"
require "upwell/runtime/bun/request_reader"
require "upwell/runtime/bun/connection_upgrade"
require "upwell/server"

module Upwell
  module Runtime
    # Bun's own HTTP server. Bun limits the heads of requests itself, and their content as configured.
    class Bun
      include ResponseSender
      include RequestReader
      include ConnectionUpgrade

      REQUIRED = "Bun does not report which clients present a certificate; set --client-certificate required, or remove --ca-file"
      SILENCE_MAX = 255 # seconds, the largest value in Bun

      # @param server [Server]
      # @param options [Configuration]
      def initialize(server, options)
        @server = server
        @options = options
        @envs = RackEnv.new(self, options.underscores_in_headers)
        @listeners = `[]`
        @headers = ResponseHeaderCache.new { |fields| headers(fields) }
        @draining = false
      end

      # @see Server#listen
      def listen(address, &told)
        tls = address.tls
        %x{
          const local = { tls: #{tls_env(tls)} }, settings = Object.assign(#{limits}, #{place(address)});

          settings.websocket = #{WebSocketConnection.behavior(@options)};
          settings.fetch = (req, server) => #{receive(`req`, `local`)};
          if (tls !== nil) settings.tls = #{secure_context(tls)};
          local.server = globalThis.Bun.serve(settings);
          self.listeners.push(local.server);
          #{told.call(`local.server.port || 0`, nil)};
        }
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        raise e if ConfigurationError === e

        told.call(nil, `e.code || #{e.message}`)
      end

      # Serves the connected clients, because a request may be in transit. Bun closes idle connections when it stops listening. While new clients
      # send requests without a pause, Bun runs no timers, so a request checks the deadline.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        @ended = ended
        @latest = `performance.now() + #{@server.grace_ms}`
        `setTimeout(() => #{shut}, #{@server.grace_ms})`
      end

      # Drops new clients in the kernel. Then there are pauses, in which timers run.
      #
      # @see DropSynsBeforeClose.drop
      def drop(numbers, _milliseconds)
        dropped = DropSynsBeforeClose.drop(numbers)
        @latest = `Infinity` if dropped
        yield dropped
      end

      # Does nothing, because Bun reads certificates only once.
      #
      # @see Server#renew
      def renew; end

      # Adds the request's values to the env.
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
        @latest = AcceptQueueIdleWait.latest
        AcceptQueueDrain.await(`self.listeners.map(listener => listener.port)`, -> { 0 }, @options.drain_timeout, self) do
          `setTimeout(() => #{stop}, #{@server.grace_ms})` # the last clients have yet to send their requests
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
        credentials = TLSCredentials.new(tls)
        raise ConfigurationError, REQUIRED if credentials.asks_clients? && !credentials.requires_clients?

        %x{
          return {
            cert: #{credentials.cert}, key: #{credentials.key}, ca: #{credentials.authorities || `undefined`},
            requestCert: #{credentials.asks_clients?}, rejectUnauthorized: #{credentials.asks_clients?}, secureOptions: #{credentials.options}
          };
        }
      end

      # Bun provides only these values.
      def tls_env(tls)
        tls && { "HTTPS" => "on", "SSL_CLIENT_VERIFY" => tls[:client_certificate] == "required" ? "SUCCESS" : "NONE" }
      end

      def connection(client)
        %x{
          const server = client.local.server, remote = server.requestIP(client.req) || {};

          return #{ConnectionInfo.new(`remote.address || nil`, `remote.port || nil`, `server.hostname || nil`, `server.port || nil`,
                                      `client.local.tls`)};
        }
      end
    end
  end

  RUNTIME = Runtime::Bun
end
