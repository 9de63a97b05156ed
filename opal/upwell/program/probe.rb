# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  class Program < Command
    # Whether an address can be listened on, and if not, why: uWebSockets.js does not tell, and who shares a port joins another server in
    # silence. A UNIX socket that a killed server has left is removed.
    module Probe
      `var net = require("net"), fs = require("fs")`

      # @param address [Address]
      # @yieldparam port [Integer, nil] the one that was asked for; where others are to share it, a free one is chosen here
      # @yieldparam reason [String, nil]
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

      # Nobody listens on it any more. What else lies there is somebody's.
      def self.remove(path)
        `fs.rmSync(path, { force: true })` if `fs.lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true`
      end
      private_class_method :remove
      private_class_method :try_path
    end
  end
end
