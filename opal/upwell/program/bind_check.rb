# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Checks whether an address can be listened on, and finds the reason if not: uWebSockets.js does not report it, and a shared port would join
    # another server without an error. The UNIX socket of a killed server is removed.
    module BindCheck
      `var net = require("net"), fs = require("fs")`

      # Checks an address.
      #
      # @param address [ListenAddress]
      # @yieldparam port [Integer, nil] the requested port; for a shared port 0, a free one
      # @yieldparam reason [String, nil] the reason of a failure
      def self.try(address, &answer)
        address.path ? try_path(address.path, answer) : try_port(address, answer)
      end

      def self.try_port(address, answer)
        host = address.host
        port = address.port
        shared = address.shared
        %x{
          const server = net.createServer();
          server.once("error", error => #{answer.call(nil, `error.code || error.message`)});
          server.listen({ host: host === nil ? undefined : host, port: port, exclusive: true },
                        () => {
                          const found = shared ? server.address().port : port;

                          server.close(() => #{answer.call(`found`, nil)});
                        });
        }
      end
      private_class_method :try_port

      def self.try_path(path, answer)
        %x{
          if (!fs.existsSync(path)) return #{answer.call(nil, nil)};
          const socket = net.connect(path, () => { socket.destroy(); #{answer.call(nil, "EADDRINUSE")} });
          socket.once("error", error => {
            if (error.code === "ECONNREFUSED") #{remove(path)};
            #{answer.call(nil, `["ECONNREFUSED", "ENOTSOCK", "ENOENT"].includes(error.code) ? nil : error.code`)};
          });
        }
      end

      # Removes a socket without a listener. Any other file belongs to another program.
      def self.remove(path)
        `fs.rmSync(path, { force: true })` if `fs.lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true`
      end
      private_class_method :remove
      private_class_method :try_path
    end
  end
end
