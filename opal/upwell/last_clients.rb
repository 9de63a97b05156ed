# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/newcomers"
require "upwell/socket_table"

module Upwell
  # When to close sockets that listen: whom they have yet to accept is reset by the kernel then.
  module LastClients
    LOOK_MS = 10
    HANDSHAKES_MS = 500 # some never end

    # Has them be the last, where that can be done. Where it cannot, as with sockets of UNIX, a moment in which nobody comes will do.
    #
    # @param places [JavaScript Array] the ports, null for a socket of UNIX
    # @param count [#call] tells how many clients have come
    # @param newcomers [#drop] see {Newcomers.drop}
    # @yield at the moment to close
    # @return [void]
    def self.await(places, count, newcomers = Newcomers, &accepted)
      ports = `places.filter(port => port > 0)`
      numbers = SocketTable.listening(ports)
      return Calm.await(count, &accepted) if `numbers.length === 0`

      newcomers.drop(numbers) do |dropped|
        calm = `dropped && ports.length === places.length` ? accepted : -> { Calm.await(count, &accepted) }
        dropped ? look(ports, numbers, `performance.now() + #{HANDSHAKES_MS}`, &calm) : calm.call
      end
    end

    def self.look(ports, numbers, latest, &accepted)
      waiting = SocketTable.queue?(ports, numbers) || (`performance.now() < latest` && SocketTable.handshakes?(ports))
      return accepted.call unless waiting

      `setTimeout(() => #{look(ports, numbers, latest, &accepted)}, #{LOOK_MS})`
    end
    private_class_method :look
  end
end
