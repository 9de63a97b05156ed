# backtick_javascript: true
# frozen_string_literal: true

require "upwell/accept_queue_drain"
require "upwell/timer_milliseconds"

module Upwell
  class Program < Command
    # The listening sockets of Node's cluster. The cluster stops accepting when its last worker stops listening, and then resets waiting clients.
    # So the supervisor closes the sockets itself, before it orders the workers to exit.
    class NodeClusterListenSockets
      LOOK_MS = 10
      # Milliseconds without progress, or a quarter of the drain time, after which the wait ends: a dead worker does not confirm its clients.
      STILL_MS = 1_000

      # Records all sockets that listen from now on. The cluster makes a server for each address, and takes its handle once it listens.
      #
      # @param drain_timeout [Numeric] seconds
      def initialize(drain_timeout)
        @drain_timeout = drain_timeout
        @handles = `[]`
        @met = 0
        @handed_over = 0
        `const cluster = require("cluster"); cluster.schedulingPolicy = cluster.SCHED_RR` # otherwise the workers share the sockets, too
        watch
      end

      # Stops accepting.
      #
      # @yield when each accepted client has reached a worker
      def close(&closed)
        return closed.call if `self.handles.length === 0`

        AcceptQueueDrain.await(`self.handles.map(({ port }) => port)`, -> { @met }, @drain_timeout) do
          `self.handles.forEach(({ handle }) => handle.close())`
          await_workers(&closed)
        end
      end

      private

      def watch
        %x{
          const net = require("net"), create = net.createServer;

          net.createServer = (...args) => {
            const server = create(...args);

            server.once("listening", () => {
              const handle = server._handle;

              self.handles.push({ handle, port: server.address().port });
              process.nextTick(() => #{count(`handle`)});
            });
            return server;
          };
        }
      end

      def await_workers(before = nil, since = nil, &closed)
        return closed.call if @handed_over == @met

        now = `performance.now()`
        since = now unless before == @handed_over
        return closed.call if now - since > TimerMilliseconds.part(@drain_timeout, STILL_MS)

        before = @handed_over
        `setTimeout(() => #{await_workers(before, since, &closed)}, #{LOOK_MS})`
      end

      # When a worker confirms a client, the supervisor closes its own copy of the connection.
      def count(handle)
        %x{
          const hand_over = handle.onconnection;

          handle.onconnection = (error, client) => {
            if (!error) {
              const close = client.close;

              #{@met += 1};
              client.close = (...args) => {
                #{@handed_over += 1};
                client.close = close;
                client.close(...args);
              };
            }
            hand_over(error, client);
          };
        }
      end
    end
  end
end
