# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/connection"
require "upwell/credentials"
require "upwell/env"
require "upwell/file_body"
require "upwell/server"
require "upwell/upload"

module Upwell
  module Runtime
    # uWebSockets.js. A response of its own must not be touched once the client has left, which {#serve}'s client knows.
    class UWebSockets
      IDLE_MS = 500 # for a request on its way on a kept connection as draining begins
      REQUIRED = "uWebSockets.js asks every client for a certificate, or none; say --client-certificate required, or leave out --ca-file"
      FOLDER = "uWebSockets.js reads one file of authorities, no folder; name the file with --ca-file"

      %x{
        const fs = require("fs"), http = require("http");
        const uws = (() => { try { return require("uWebSockets.js"); } catch (error) { return require("uwebsockets"); } })();
        const MUCH = 65_536; // bytes; more may not leave at once
        const statusLine = status => status + " " + (http.STATUS_CODES[status] || "Unknown");
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
            this.behind = 0; // bytes that it has not taken
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

      # Those who are connected are served: a request may be on its way.
      #
      # @see Server#drain
      def drain(&ended)
        @draining = true
        Calm.await(-> { 0 }) { `self.sockets.forEach(socket => uws.us_listen_socket_close(socket))` }
        `setTimeout(() => #{@server.await_idle { close(ended) }}, #{IDLE_MS})`
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

      # @param client [JavaScript Client]
      # @param head [Head]
      # @param data [JavaScript String, JavaScript Uint8Array] all of the content
      # @return [void]
      def answer(client, head, data)
        %x{
          if (client.gone) return nil;
          if (data.length > MUCH) return #{answer_much(client, head, data)};
          if (client.later) client.res.cork(() => #{end_with(client, head, data)});
          else #{end_with(client, head, data)};
          return nil;
        }
      end

      # @param length [Integer, nil] what is told of the content that there would be
      # @return [void]
      def answer_without_content(client, head, length)
        cork(client) do
          write_head(client, head)
          `client.res.writeHeader("content-length", "" + length)` unless length.nil?
          `client.res.writeHeader("connection", "close")` if `head.close || self.draining`
          `client.res.endWithoutBody()` # told of a length, the runtime would take the response for unfinished
          finished(client)
        end
      end

      # @param path [String]
      # @return [Boolean] whether it is sent: not where it is no file, or not as long as the head says
      def answer_file(client, head, path)
        file = FileBody.open(path, head.length)
        return false unless file

        %x{
          const content = fs.createReadStream(null, { fd: file.fd, end: file.size - 1 });
          const next = () => content.resume();

          content.pause();
          content.on("data", chunk => { if (!#{offer(client, `chunk`, `file.size`, `next`)}) content.pause(); });
          content.on("close", () => { if (!client.gone && client.res && content.bytesRead < file.size) #{abort(client)}; });
          content.on("error", () => {});
          #{hold(client) { `content.destroy()` }};
          client.res.cork(() => #{write_head(client, head)});
          content.resume();
        }
        true
      end

      # @param head [Head] after which pieces follow
      # @return [void]
      def begin(client, head)
        watch(client)
        cork(client) { write_head(client, head) }
        %x{
          client.res.onWritable(() => {
            const drained = client.drained;

            client.behind = 0;
            client.drained = null;
            drained?.();
            return true;
          });
        }
      end

      # @return [void]
      def write(client, data)
        cork(client) { `client.res.write(data) || (client.behind += data.length)` } unless `client.gone`
      end

      # @return [void]
      def finish(client)
        return if `client.gone`

        cork(client) { `client.res.end()` } # to close it the runtime would write a header here, amid the chunks
        finished(client)
        `client.left?.()`
      end

      # Ends the connection, so that the client does not take what it has for the whole.
      #
      # @return [void]
      def abort(client)
        `client.res?.close()`
      end

      # The client has the connection from now on.
      #
      # @param client [JavaScript Client]
      # @param head [Head]
      # @param staying [Client]
      # @return [void]
      def accept(client, head, staying)
        env = staying.env
        cork(client) do
          `client.res.writeStatus("101 Switching Protocols")`
          write_fields(client, head)
          %x{
            client.res.upgrade({ line: #{WebSocket.new(staying)} }, #{env["HTTP_SEC_WEBSOCKET_KEY"]}, "",
                               #{env["HTTP_SEC_WEBSOCKET_EXTENSIONS"].to_s}, client.context);
          }
        end
        finished(client)
      end

      # Tells the line of a response that does not end by itself when the client has left.
      def attend(client, line)
        `client.left = () => #{line.gone}`
        write(client, Client::EventStreamLine::COMMENT) # with which the head leaves
      end

      # @yield when all that was written has been sent
      def await_drained(client, &drained)
        `client.behind === 0 ? setImmediate(drained) : client.drained = drained`
      end

      # @return [Boolean] whether the client has left
      def gone?(client)
        `client.gone`
      end

      # @return [Integer] bytes that the client has not taken
      def behind(client)
        `client.behind`
      end

      private

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
        @server.serve(client, @envs.make(client, content), `client.method === "HEAD"`)
      end

      # What is neither answered in the call in which it came nor when its content is complete needs to know when the client leaves.
      def upload(client)
        upload = Upload.new(@options) { |status| refuse(client, status) }
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

      # Until it is answered.
      def hold(client, &left)
        @server.hold
        watch(client)
        `client.left = () => { #{left.call}; #{@server.release}; }`
      end

      def watch(client)
        %x{
          if (client.later) return;
          client.later = true;
          client.res.onAborted(() => {
            client.gone = true;
            client.res = null;
            if (client.left) client.left();
          });
        }
      end

      def cork(client, &block)
        `client.later ? client.res.cork(() => #{block.call}) : #{block.call}`
      end

      def end_with(client, head, data)
        %x{
          #{write_head(client, head)};
          client.res.end(data, head.close || self.draining);
          client.res = null;
        }
      end

      def finished(client)
        `client.res = null`
      end

      def answer_much(client, head, data)
        %x{
          const bytes = typeof data === "string" ? Buffer.from(data) : data;

          #{hold(client) {}};
          client.res.cork(() => {
            #{write_head(client, head)};
            #{offer(client, `bytes`, `bytes.length`, `() => {}`)};
          });
        }
        nil
      end

      # Gives a part of the content, and what the client does not take at once when it does.
      #
      # @return [Boolean] whether it was taken; else `next` is called
      def offer(client, bytes, total, following)
        %x{
          const start = client.res.getWriteOffset();
          const give = offset => {
            const [taken, complete] = client.res.tryEnd(bytes.subarray(offset - start), total, self.draining);

            if (complete) #{complete(client)};
            return taken || complete;
          };

          if (give(start)) return true;
          client.res.onWritable(offset => {
            const taken = give(offset);

            if (taken) following();
            return taken;
          });
          return false;
        }
      end

      def complete(client)
        `client.res = null`
        `client.left = null`
        @server.release
      end

      def refuse(client, status)
        text = "#{status} #{`http.STATUS_CODES[status]`}\n"
        `client.left = null`
        cork(client) { `client.res.writeStatus(statusLine(status)).writeHeader("content-type", "text/plain").end(text, true)` }
        finished(client)
      end

      def write_head(client, head)
        `if (head.status !== 200) client.res.writeStatus(statusLine(head.status))`
        write_fields(client, head)
      end

      def write_fields(client, head)
        %x{
          const res = client.res, fields = head.fields;

          for (let i = 0; i < fields.length; i += 2) {
            const value = fields[i + 1];

            if (fields[i].length === 4 && fields[i].toLowerCase() === "date") continue; // the runtime writes its own
            res.writeHeader(fields[i], head.beyond_ascii ? Buffer.from(value, "latin1") : value);
          }
        }
      end

      def connection(client)
        %x{
          const local = client.local, address = client.res ? Buffer.from(client.res.getRemoteAddressAsText()).toString() : "";

          return #{Connection.new(`address`, nil, `local.get("address")`, `local.get("port")`, `local.get("tls")`)};
        }
      end

      def close(ended)
        `self.apps.forEach(app => app.close())`
        ended.call
      end
    end
  end

  RUNTIME = Runtime::UWebSockets
end

require "upwell/runtime/uwebsockets/web_socket"
