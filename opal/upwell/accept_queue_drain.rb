# backtick_javascript: true
# frozen_string_literal: true

require "upwell/accept_queue_idle_wait"
require "upwell/timer_milliseconds"
require "upwell/drop_syns_before_close"
require "upwell/proc_net_tcp"

module Upwell
  # Finds the time to close listening sockets: the kernel then resets the clients that wait in their accept queues.
  module AcceptQueueDrain
    LOOK_MS = 10
    LOOKS_PART = 10 # at most a tenth of the time is for reading the table, which is long on a busy machine
    WITHIN_MS = 5_000
    HANDSHAKES_MS = 500 # some handshakes never end

    # Stops new clients where possible, and waits for the accepted ones. For UNIX sockets it waits for a moment without new clients.
    #
    # @param places [JavaScript Array] the ports; null for a UNIX socket
    # @param count [#call] returns the number of accepted clients
    # @param drain_timeout [Numeric] seconds, of which this takes at most a quarter
    # @param syn_filter [#drop] see {DropSynsBeforeClose.drop}
    # @yield when the sockets can be closed
    # @return [void]
    def self.await(places, count, drain_timeout, syn_filter = DropSynsBeforeClose, &accepted)
      ports = `places.filter(port => port > 0)`
      numbers = ProcNetTcp.listening(ports)
      return AcceptQueueIdleWait.await(count, &accepted) if `numbers.length === 0`

      milliseconds = TimerMilliseconds.part(drain_timeout, WITHIN_MS)
      syn_filter.drop(numbers, milliseconds / 2) do |dropped|
        calm = `dropped && ports.length === places.length` ? accepted : -> { AcceptQueueIdleWait.await(count, &accepted) }
        dropped ? look(ports, numbers, `performance.now()`, milliseconds / 2, &calm) : calm.call
      end
    end

    # A client moves from the handshake to the queue, so the queue is checked last.
    def self.look(ports, numbers, since, milliseconds, &accepted)
      now = `performance.now()`
      comes = now - since < [HANDSHAKES_MS, milliseconds].min && ProcNetTcp.handshakes?(ports)
      waiting = ProcNetTcp.queue?(ports, numbers) || comes
      return accepted.call unless waiting && now - since < milliseconds

      pause = `Math.max(#{LOOK_MS}, #{LOOKS_PART} * (performance.now() - now))`
      `setTimeout(() => #{look(ports, numbers, since, milliseconds, &accepted)}, pause)`
    end
    private_class_method :look
  end
end
