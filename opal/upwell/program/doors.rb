# backtick_javascript: true
# frozen_string_literal: true

require "upwell/last_clients"
require "upwell/milliseconds"

module Upwell
  class Program < Command
    # The sockets that Node's cluster listens on for its workers. It stops accepting when the last worker has stopped listening, and resets who
    # is on the way to it then; so the doors are closed here, before the workers are told to end.
    class Doors
      LOOK_MS = 10
      # In which no worker takes anybody, or a quarter of the time to drain: one that has died tells nothing of whom it had been given.
      STILL_MS = 1_000

      # Takes note of what is listened on from now on. The cluster makes a server for each address, and takes its handle once it listens.
      #
      # @param drain_timeout [Numeric] seconds
      def initialize(drain_timeout)
        @drain_timeout = drain_timeout
        @doors = `[]`
        @met = 0
        @handed_over = 0
        `const cluster = require("cluster"); cluster.schedulingPolicy = cluster.SCHED_RR` # else the workers have the sockets, too
        watch
      end

      # Accepts no more.
      #
      # @yield when whoever was let in is with a worker
      def close(&closed)
        return closed.call if `self.doors.length === 0`

        LastClients.await(`self.doors.map(({ port }) => port)`, -> { @met }, @drain_timeout) do
          `self.doors.forEach(door => door.handle.close())`
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

              self.doors.push({ handle, port: server.address().port });
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
        return closed.call if now - since > Milliseconds.part(@drain_timeout, STILL_MS)

        before = @handed_over
        `setTimeout(() => #{await_workers(before, since, &closed)}, #{LOOK_MS})`
      end

      # A worker says that it has a client: then the supervisor closes its own end.
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
