# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"

module Upwell
  # When to close Node's sockets that listen: who waits to be accepted then is reset by the kernel, and somebody may have come in the last
  # moment. So there are few places to wait at, and clients of this process's own take them, in one turn of the loop, in which nobody is
  # accepted. Once they have all of them nobody else waits, and nobody else can: the kernel drops who comes, and refuses it when it tries again a
  # second later.
  module LastPlaces
    PLACES = 8
    BACKLOG = PLACES - 1 # as Linux is told

    `const net = require("net")`

    # Where another process has the socket, or it is one of UNIX, there are no such places.
    #
    # @param doors [JavaScript Array] of `handle` and `address`, as Node has them
    # @param count [#call] tells how many clients have come
    # @yield at the moment to close them
    # @return [void]
    def self.shut(doors, count, &alone)
      %x{
        const own = doors.filter(({ handle, address }) => handle?.fd >= 0 && typeof address !== "string");

        own.forEach(door => door.handle.listen(#{BACKLOG}));
        #{await(`own.map(door => door.address)`, count, Calm.latest, &alone)};
      }
    end

    # When it is late they are closed as they are.
    def self.await(addresses, count, latest, &alone)
      Calm.await(count, latest) do
        take(addresses) { |all| all || `performance.now() > latest` ? alone.call : await(addresses, count, latest, &alone) }
      end
    end
    private_class_method :await

    # Linux' loopback keeps no client waiting: it has its place at once, or has none.
    #
    # @yieldparam all [Boolean]
    def self.take(addresses, &told)
      %x{
        const connect = ({ address, port }) => net.connect({ host: address, port }).on("error", () => {});
        const clients = addresses.flatMap(place => Array.from({ length: #{PLACES} }, () => connect(place)));

        process.nextTick(() => {
          #{told.call(`clients.every(client => client._handle?.getpeername({}) === 0)`)};
          clients.forEach(client => client.destroy());
        });
      }
    end
    private_class_method :take
  end
end
