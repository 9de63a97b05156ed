# backtick_javascript: true
# frozen_string_literal: true

require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/runtime/uwebsockets/answers"
require "upwell/runtime/uwebsockets/draining"
require "upwell/runtime/uwebsockets/staying"
require "upwell/server"
require "upwell/upload"

module Upwell
  module Runtime
    # uWebSockets.js. A response of its own must not be touched once the client has left, which {#serve}'s client knows.
    class UWebSockets
      include Answers
      include Draining
      include Staying

      REQUIRED = "uWebSockets.js asks every client for a certificate, or none; say --client-certificate required, or leave out --ca-file"
      FOLDER = "uWebSockets.js reads one file of authorities, no folder; name the file with --ca-file"

      %x{
        const http = require("http");
        const uws = (() => { try { return require("uWebSockets.js"); } catch (error) { return require("uwebsockets"); } })();
        const BEYOND_ASCII = /[\x80-\uffff]/;

        // A request, and the response to it as long as that may be touched.
        class Client {
          constructor(res, req, fields, local, context) {
            const query = req.getQuery();

            this.res = res;
            this.method = req.getCaseSensitiveMethod();
            this.target = query === undefined ? req.getUrl() : req.getUrl() + "?" + query;
            this.fields = fields;
            this.local = local;
            this.context = context; // of one who asks for a WebSocket
            this.later = false; // whether the call in which it came is over
            this.gone = false;
            this.left = null; // called when it goes
            this.pile = null; // of a response in pieces: those that wait,
            this.kept = 0; // the bytes of the one that the runtime has taken, and not sent,
            this.drained = null; // called when it has taken what there was,
            this.ending = false; // and whether it ends then
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
        @envs = Env.new(self)
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
        told.call(nil, e.message)
      end

      # Certificates are read once.
      #
      # @see Server#renew
      def renew; end

      # Tells the env what the request has.
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
        app = address.tls ? secure_app(Credentials.new(address.tls)) : `uws.App()`
        local = { address: address.host, port: address.port, tls: address.tls && tls_env(address.tls) }
        %x{
          const serve = (res, req, context) => {
            fields = [];
            req.forEach(collect);
            #{receive(`new Client(res, req, fields, local, context)`)};
          };

          app.ws("/*", { ...#{WebSocket.behavior(`uws`, @options)}, upgrade: serve });
          app.any("/*", serve);
          app.filter((res, change) => { self.connections += change; });
        }
        app
      end

      def secure_app(credentials)
        raise ArgumentError, REQUIRED if credentials.asks_clients? && !credentials.requires_clients?
        raise ArgumentError, FOLDER if credentials.asks_clients? && File.directory?(credentials.ca_file)

        %x{
          const settings = { cert_file_name: #{credentials.cert_file}, key_file_name: #{credentials.key_file} };

          if (#{credentials.asks_clients?}) settings.ca_file_name = #{credentials.ca_file};
          return uws.SSLApp(settings);
        }
      end

      # What the runtime tells of it.
      def tls_env(tls)
        { "HTTPS" => "on", "SSL_CLIENT_VERIFY" => tls[:ca_file] ? "SUCCESS" : "NONE" }
      end

      def receive(client)
        %x{
          const fields = client.fields;
          let framing = 0;

          if (fields.length > self.fields_max) return #{refuse(client, 431)};
          if (client.target.length > self.target_max) return #{refuse(client, 414)};
          for (let i = 0; i < fields.length; i += 2) {
            if (fields[i] === "content-length") framing = +fields[i + 1];
            else if (fields[i] === "transfer-encoding") framing = -1;
          }
          if (framing === 0) #{serve(client, nil)};
          else if (framing > self.body_max) #{refuse(client, 413)};
          else #{upload(client)};
        }
      end

      def serve(client, content)
        env = @envs.make(client, content)
        @server.serve(client, env, `client.method === "HEAD"`)
        `env.leave()`
      end

      # What is neither answered in the call in which it came nor when its content is complete needs to know when the client leaves.
      def upload(client)
        upload = Upload.new(@options) do |status|
          finished_upload(client)
          refuse(client, status)
        end
        hold(client) { upload.stop }
        %x{
          client.res.onData((chunk, last) => {
            #{upload.add(`Buffer.from(new Uint8Array(chunk))`)};
            if (last && !#{upload.ended?}) {
              #{finished_upload(client)};
              #{serve(client, upload.finish)};
            }
          });
        }
      end

      def finished_upload(client)
        `client.left = null`
        @server.release
      end

      def refuse(client, status)
        line = "#{status} #{`http.STATUS_CODES[status]`}"
        cork(client) { `client.res.writeStatus(line).writeHeader("content-type", "text/plain").end(line + "\n", true)` }
        finished(client)
      end

      def connection(client)
        %x{
          const local = client.local, address = #{address_text(`client.res.getRemoteAddress()`)};

          return #{Connection.new(`address`, nil, `local.get("address")`, `local.get("port")`, `local.get("tls")`)};
        }
      end

      # As the runtime writes it: of IPv6 in full.
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
