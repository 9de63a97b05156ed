# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/socket_table"

module Upwell
  # When to close sockets that listen: who waits to be accepted then is reset by the kernel, and somebody may have come in the last moment. So
  # there are few places to wait at, and clients of this process's own take them, in one turn of the loop, in which nobody is accepted. Once they
  # have all of them nobody else waits, and nobody else can: the kernel drops who comes, and refuses it when it tries again a second later.
  module LastPlaces
    PLACES = 8
    BACKLOG = PLACES - 1 # as Linux is told
    WITHIN_MS = 500 # else they are closed as they are

    `const net = require("net"), fs = require("fs")`

    # Where another process has the socket there is nothing to do.
    #
    # @param doors [JavaScript Array] of `handle` and `address`, as Node has them; that of UNIX is a path: once that is removed nobody comes
    # @param count [#call] tells how many clients have come
    # @yield at the moment to close them
    # @return [void]
    def self.shut(doors, count, &alone)
      %x{
        const own = doors.filter(({ handle }) => handle?.fd >= 0), isPath = ({ address }) => typeof address === "string";

        own.forEach(door => isPath(door) ? fs.rmSync(door.address, { force: true }) : door.handle.listen(#{BACKLOG}));
        #{await(`own.filter(door => !isPath(door)).map(door => door.address)`, count, &alone)};
      }
    end

    # @param addresses [JavaScript Array] of `address` and `port`, where no more than {BACKLOG} may wait
    # @param count [#call] tells how many clients have come
    # @yield at the moment to close them
    # @return [void]
    def self.await(addresses, count, latest = `performance.now()` + WITHIN_MS, &alone)
      Calm.await(count) do
        take(addresses) { |all| all || `performance.now() > latest` ? alone.call : await(addresses, count, latest, &alone) }
      end
    end

    # Linux' loopback keeps no client waiting: it has its place at once, or has none. Who has begun to connect before may have been too late
    # for a place, and not know it yet.
    #
    # @yieldparam all [Boolean]
    def self.take(addresses, &told)
      %x{
        const connect = ({ address, port }) => net.connect({ host: address, port }).on("error", () => {});
        const clients = addresses.flatMap(place => Array.from({ length: #{PLACES} }, () => connect(place)));

        process.nextTick(() => {
          const all = clients.every(client => client._handle?.getpeername({}) === 0);

          #{told.call(`all && !#{SocketTable.asked?(`addresses.map(place => place.port)`)}`)};
          clients.forEach(client => client.destroy());
        });
      }
    end
    private_class_method :take
  end
end
