# backtick_javascript: true
# frozen_string_literal: true

require "upwell/connection_info"
require "upwell/tls_credentials"
require "upwell/rack_env"
require "upwell/runtime/uwebsockets/response_sender"
require "upwell/runtime/uwebsockets/draining"
require "upwell/runtime/uwebsockets/request_reader"
require "upwell/runtime/uwebsockets/connection_upgrade"
require "upwell/server"

module Upwell
  module Runtime
    # uWebSockets.js. Its responses must not be used after the client has disconnected, which the client object of {#serve} records.
    class UWebSockets
      include ResponseSender
      include Draining
      include RequestReader
      include ConnectionUpgrade

      REQUIRED = "uWebSockets.js has no optional client certificates; set --client-certificate required, or remove --ca-file"
      FOLDER = "uWebSockets.js reads CA certificates from a file, not from a directory; name a file with --ca-file"

      %x{
        const uws = (() => { try { return require("uWebSockets.js"); } catch (error) { return require("uwebsockets"); } })();
        const BEYOND_ASCII = /[\x80-\uffff]/;

        // A request with its response, as long as that may be used.
        class Client {
          constructor(res, req, fields, local, context) {
            const query = req.getQuery();

            this.res = res;
            this.method = req.getCaseSensitiveMethod();
            this.target = query === undefined ? req.getUrl() : req.getUrl() + "?" + query;
            this.fields = fields;
            this.local = local;
            this.context = context; // for a WebSocket request
            this.last = false; // no further request is read from the connection
            this.later = false; // the request's call has returned
            this.gone = false;
            this.left = null; // called when the client disconnects
            this.queue = null; // for a response in pieces: the waiting pieces,
            this.kept = 0; // the bytes that the runtime has accepted and not sent,
            this.drained = null; // a callback for the end of all sending,
            this.ending = false; // and whether the response then ends
          }
        }

        let fields;
        const collect = (name, value) => { fields.push(name, value); };
      }

      # @param server [Server]
      # @param options [Configuration]
      def initialize(server, options)
        @server = server
        @options = options
        @envs = RackEnv.new(self, options.underscores_in_headers)
        @apps = `[]`
        @sockets = `[]`
        @connections = 0
        @late = -LATE_MS
        @fields_max = 2 * options.headers_max
        @target_max = options.target_bytes_max
        @body_max = options.body_bytes_max
        @draining = false
      end

      # @see Server#listen
      def listen(address, &told)
        %x{
          const app = #{make_app(address)}, how = #{address.shared} ? 0 : uws.LIBUS_LISTEN_EXCLUSIVE_PORT;
          const answer = socket => {
            if (!socket) return #{told.call(nil, "EADDRINUSE")};
            self.apps.push(app);
            self.sockets.push(socket);
            #{told.call(`uws.us_socket_local_port(socket)`, nil)};
          };

          if (#{address.path} !== nil) app.listen_unix(answer, #{address.path});
          else if (#{address.host} === nil) app.listen(#{address.port}, how, answer);
          else app.listen(#{address.host}, #{address.port}, how, answer);
        }
      rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
        raise e if ConfigurationError === e

        told.call(nil, e.message)
      end

      # Does nothing, because uWebSockets.js reads certificates only once.
      #
      # @see Server#renew
      def renew; end

      # Adds the request's values to the env.
      def describe(envs, env, client)
        %x{
          if (BEYOND_ASCII.test(client.target)) client.target = Buffer.from(client.target).latin1Slice();
          for (let i = 1; i < client.fields.length; i += 2)
            if (BEYOND_ASCII.test(client.fields[i])) client.fields[i] = Buffer.from(client.fields[i]).latin1Slice();
        }
        envs.add(env, `client.method`, `client.target`, "HTTP/1.1", `client.fields`, connection(client))
      end

      private

      def ports
        `self.sockets.map(socket => uws.us_socket_local_port(socket))`
      end

      def stop_listening
        `self.sockets.forEach(socket => uws.us_listen_socket_close(socket))`
      end

      def make_app(address)
        app = address.tls ? secure_app(TLSCredentials.new(address.tls)) : `uws.App()`
        local = { address: address.host, port: address.port, tls: address.tls && tls_env(address.tls) }
        %x{
          const serve = (res, req, context) => {
            fields = [];
            req.forEach(collect);
            #{receive(`new Client(res, req, fields, local, context)`)};
          };

          app.ws("/*", { ...#{WebSocketConnection.behavior(`uws`, @options)}, upgrade: serve });
          app.any("/*", serve);
          app.filter((res, change) => { self.connections += change; });
        }
        app
      end

      def secure_app(credentials)
        raise ConfigurationError, REQUIRED if credentials.asks_clients? && !credentials.requires_clients?
        raise ConfigurationError, FOLDER if credentials.asks_clients? && File.directory?(credentials.ca_file)

        %x{
          const settings = { cert_file_name: #{credentials.cert_file}, key_file_name: #{credentials.key_file} };

          if (#{credentials.asks_clients?}) settings.ca_file_name = #{credentials.ca_file};
          return uws.SSLApp(settings);
        }
      end

      # uWebSockets.js provides only these values.
      def tls_env(tls)
        { "HTTPS" => "on", "SSL_CLIENT_VERIFY" => tls[:ca_file] ? "SUCCESS" : "NONE" }
      end

      def connection(client)
        %x{
          const local = client.local, address = #{address_text(`client.res.getRemoteAddress()`)};

          return #{ConnectionInfo.new(`address`, nil, `local.get("address")`, `local.get("port")`, `local.get("tls")`)};
        }
      end

      # Formats an address as uWebSockets.js does, with IPv6 in full.
      def address_text(bytes)
        %x{
          const buffer = Buffer.from(bytes);

          return buffer.length === 16 ? buffer.hexSlice().match(/.{4}/g).join(":") : buffer.join(".");
        }
      end
    end
  end

  RUNTIME = Runtime::UWebSockets
end
