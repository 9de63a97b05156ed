# backtick_javascript: true
# frozen_string_literal: true

require "upwell/last_places"

module Upwell
  class Program < Command
    # The sockets that Node's cluster listens on for its workers. It stops accepting when the last worker has stopped listening, and resets who
    # is on the way to it then; so the doors are closed here, before the workers are told to end.
    class Doors
      HANDING_OVER_MS = 100 # to the workers, of those who were let in

      # Takes note of what is listened on from now on. The cluster makes a server for each address, and takes its handle once it listens.
      def initialize
        @doors = `[]`
        @met = 0
        doors = @doors
        %x{
          const net = require("net"), create = net.createServer;

          net.createServer = (...args) => {
            const server = create(...args);

            server.once("listening", () => doors.push({ handle: server._handle, address: server.address() }));
            return server;
          };
        }
      end

      # Accepts no more.
      #
      # @yield when whoever was let in is with a worker
      def close(&closed)
        `self.doors.forEach(door => #{count(`door.handle`)})`
        milliseconds = `self.doors.length > 0` ? HANDING_OVER_MS : 0
        LastPlaces.shut(@doors, -> { @met }) do
          `self.doors.forEach(door => door.handle.close())`
          `setTimeout(() => #{closed.call}, milliseconds)`
        end
      end

      private

      def count(handle)
        %x{
          const hand_over = handle.onconnection;

          handle.onconnection = (...args) => { #{@met += 1}; hand_over(...args); };
        }
      end
    end
  end
end
