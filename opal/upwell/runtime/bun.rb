# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/file_body"
require "upwell/recent_fields"
require "upwell/server"

module Upwell
  module Runtime
    # Bun's own HTTP server. It bounds heads and the content of requests itself, the latter as it is told.
    class Bun
      IDLE_MS = 500 # for a request on its way on a kept connection as draining begins
      REQUIRED = "Bun does not tell which clients have shown a certificate; say --client-certificate required, or leave out --ca-file"
      SILENCE_MAX = 255 # seconds, as far as Bun counts

      %x{
        const fs = require("fs"), http = require("http");

        const WHOLE_MAX = 1048576; // bytes of a file that is sent in one piece

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

        const give = (client, response) => {
          if (client.resolve) client.resolve(response);
          else client.response = response;
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

      # Those who are connected are served: a request may be on its way.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        Calm.await(-> { 0 }) { stop(ended) }
      end

      # Certificates are read once.
      #
      # @see Server#renew
      def renew; end

      # Tells the env what the request has.
      def describe(envs, env, client)
        %x{
          const req = client.req, url = req.url, given = req.headers.toJSON(), fields = [];

          for (const name in given) fields.push(name, Array.isArray(given[name]) ? given[name].join(", ") : given[name]);
          return #{envs.add(env, `req.method`, `url[0] === "/" ? url : url.slice(url.indexOf("/", 8))`, "HTTP/1.1", `fields`, connection(client))};
        }
      end

      # @param client [JavaScript Client]
      # @param head [Head]
      # @param data [JavaScript String, JavaScript Uint8Array] all of the content
      # @return [void]
      def answer(client, head, data)
        `give(client, new Response(#{content(head, data)}, #{start(head)}))`
      end

      # @param length [Integer, nil] what is told of the content that there would be
      # @return [void]
      def answer_without_content(client, head, length)
        `head.fields.push("content-length", "" + length)` unless length.nil?
        `give(client, new Response(null, #{start(head)}))`
      end

      # What is not small goes out in pieces: a file that is given to Bun by its path has Bun tell the client its name, and one that is open stays
      # open.
      #
      # @param path [String]
      # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
      def answer_file(client, head, path)
        file = FileBody.open(path, head.length)
        return false unless file
        return answer(client, head, FileBody.read(file)) || true if `file.size <= WHOLE_MAX`

        @server.hold
        %x{
          const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });

          content.on("close", () => #{@server.release});
          give(client, new Response(content, #{start(head)}));
        }
        true
      end

      # @param head [Head] after which pieces follow
      # @return [void]
      def begin(client, head)
        %x{
          const pieces = {
            start(controller) { client.pieces = controller; },
            pull() {
              const drained = client.drained;

              client.drained = null;
              drained?.();
            },
            cancel() {
              client.gone = true;
              if (client.left) client.left();
            }
          };

          give(client, new Response(new ReadableStream(pieces, new ByteLengthQueuingStrategy({ highWaterMark: 0 })), #{start(head)}));
        }
      end

      # @return [void]
      def write(client, data)
        `client.pieces.enqueue(typeof data === "string" ? Buffer.from(data) : data)` if `data.length > 0`
      end

      # @return [void]
      def finish(client)
        return if `client.gone`

        `client.pieces.close()`
        `client.left?.()`
      end

      # Ends the connection, so that the client does not take what it has for the whole.
      #
      # @return [void]
      def abort(client)
        `client.pieces.error(new Error("the response is incomplete"))` unless `client.gone`
      end

      # The client has the connection from now on.
      #
      # @param client [JavaScript Client]
      # @param head [Head]
      # @param staying [Client]
      # @return [void]
      def accept(client, head, staying)
        %x{
          const { headers } = #{start(head)};

          client.response = undefined; // there is none
          client.req.headers.delete("sec-websocket-protocol"); // of which the runtime would take the first
          client.local.server.upgrade(client.req, { headers, data: #{WebSocket.new(staying)} });
        }
      end

      # Tells the line of a response that does not end by itself when the client has left.
      def attend(client, line)
        %x{
          client.local.server.timeout(client.req, 0);
          client.left = () => #{line.gone};
        }
        write(client, Client::EventStreamLine::COMMENT) # with which the head leaves
      end

      # @yield when all that was written has been sent
      def await_drained(client, &drained)
        `client.drained = drained`
      end

      # @return [Boolean] whether the client has left
      def gone?(client)
        `client.gone`
      end

      # @return [Integer] bytes that the client has not taken
      def behind(client)
        `-client.pieces.desiredSize`
      end

      private

      def stop(ended)
        %x{
          const stopped = Promise.all(self.listeners.map(listener => listener.stop()));
          const timer = setInterval(() => self.listeners.forEach(listener => listener.closeIdleConnections?.()), #{IDLE_MS});

          stopped.then(() => {
            clearInterval(timer);
            #{@server.await_idle(&ended)};
          });
        }
      end

      def limits
        %x{
          return {
            development: false, idleTimeout: Math.min(#{SILENCE_MAX}, Math.ceil(#{@options.keep_alive_timeout})),
            maxRequestBodySize: #{@options.body_bytes_max}, error: error => { throw error; }
          };
        }
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

          if (req.body !== null) return #{upload(`client`)};
          #{serve(`client`, nil)};
          return client.response !== null ? client.response : new Promise(resolve => { client.resolve = resolve; });
        }
      end

      def serve(client, content)
        @server.serve(client, @envs.make(client, content), `client.req.method === "HEAD"`)
      end

      def upload(client)
        @server.hold
        %x{
          return client.req.arrayBuffer().then(content => {
            #{serve(client, `Buffer.from(content)`)};
            return client.response !== null ? client.response : new Promise(resolve => { client.resolve = resolve; });
          }, () => refuse(client.req.signal.aborted ? 400 : 413)).finally(() => #{@server.release});
        }
      end

      # Of text and bytes Bun would tell a type where the application tells none.
      def content(head, data)
        %x{
          if (data.length === 0) return null;
          for (let i = 0; i < head.fields.length; i += 2)
            if (head.fields[i].length === 12 && head.fields[i].toLowerCase() === "content-type") return data;
          return new ReadableStream({ start(controller) { controller.enqueue(Buffer.from(data)); controller.close(); } });
        }
      end

      def start(head)
        %x{
          if (self.draining || head.close) head.fields.push("connection", "close");
          return { status: head.status, headers: #{@headers.made_of(`head.fields`)} };
        }
      end

      def headers(fields)
        %x{
          const headers = new Headers();

          for (let i = 0; i < fields.length; i += 2) headers.append(fields[i], fields[i + 1]);
          return headers;
        }
      end

      def connection(client)
        %x{
          const server = client.local.server, remote = server.requestIP(client.req) || {};

          return #{Connection.new(`remote.address || nil`, `remote.port || nil`, `server.hostname || nil`, `server.port || nil`, `client.local.tls`)};
        }
      end
    end
  end

  RUNTIME = Runtime::Bun
end

require "upwell/runtime/bun/web_socket"
