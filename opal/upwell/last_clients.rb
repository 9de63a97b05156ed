# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/milliseconds"
require "upwell/newcomers"
require "upwell/socket_table"

module Upwell
  # When to close sockets that listen: whom they have yet to accept is reset by the kernel then.
  module LastClients
    LOOK_MS = 10
    LOOKS_PART = 10 # of the time is for looking, at most: the table of a busy machine is long
    WITHIN_MS = 5_000
    HANDSHAKES_MS = 500 # some never end

    # Has them be the last, where that can be done. Where it cannot, as with sockets of UNIX, a moment in which nobody comes will do.
    #
    # @param places [JavaScript Array] the ports, null for a socket of UNIX
    # @param count [#call] tells how many clients have come
    # @param drain_timeout [Numeric] seconds, of which this takes a quarter at most
    # @param newcomers [#drop] see {Newcomers.drop}
    # @yield at the moment to close
    # @return [void]
    def self.await(places, count, drain_timeout, newcomers = Newcomers, &accepted)
      ports = `places.filter(port => port > 0)`
      numbers = SocketTable.listening(ports)
      return Calm.await(count, &accepted) if `numbers.length === 0`

      milliseconds = Milliseconds.part(drain_timeout, WITHIN_MS)
      newcomers.drop(numbers, milliseconds / 2) do |dropped|
        calm = `dropped && ports.length === places.length` ? accepted : -> { Calm.await(count, &accepted) }
        dropped ? look(ports, numbers, `performance.now()`, milliseconds / 2, &calm) : calm.call
      end
    end

    # From a handshake one comes to the queue, so that is looked at last.
    def self.look(ports, numbers, since, milliseconds, &accepted)
      now = `performance.now()`
      comes = now - since < [HANDSHAKES_MS, milliseconds].min && SocketTable.handshakes?(ports)
      waiting = SocketTable.queue?(ports, numbers) || comes
      return accepted.call unless waiting && now - since < milliseconds

      pause = `Math.max(#{LOOK_MS}, #{LOOKS_PART} * (performance.now() - now))`
      `setTimeout(() => #{look(ports, numbers, since, milliseconds, &accepted)}, pause)`
    end
    private_class_method :look
  end
end
