# frozen_string_literal: true

require_relative "../../errno_text"
require_relative "../../log"
require_relative "notify_socket"

module Upwell
  class Server
    module ServiceManager
      # Notifies the service manager of the server's state: starting, ready, reloading or stopping, see sd_notify(3). Without a notify socket
      # nothing is sent. Any thread may call the methods.
      class Notifications
        VARIABLES = %w[NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID].freeze
        TICK_MAX = 5 # seconds between two ticks
        TICKS_PER_WATCHDOG = 2 # as sd_watchdog_enabled(3) recommends
        EXTENSION = 15 # seconds, several ticks, by which each tick extends the time for a start, a reload or a stop
        USEC = 1_000_000 # per second

        # Takes the service manager's variables from the environment: child processes must not notify it.
        #
        # @param environment [Hash{String => String}]
        # @return [Notifications]
        def self.take(environment = ENV)
          address, usec, pid = VARIABLES.map { |name| environment.delete(name) }
          new(socket(address), pid && pid != Process.pid.to_s ? nil : watchdog(usec))
        end

        def self.socket(address)
          return if address.nil? || address.empty?
          return NotifySocket.new(address) if address.start_with?(*NotifySocket::FORMS)

          ignore("NOTIFY_SOCKET", "#{address} is neither a path nor an abstract UNIX socket")
        rescue SystemCallError, ArgumentError => e
          ignore("NOTIFY_SOCKET", e.is_a?(ArgumentError) ? e.message : ErrnoText.of(e))
        end
        private_class_method :socket

        # @return [Float, nil] seconds
        def self.watchdog(usec)
          return if usec.nil?

          number = Integer(usec, 10, exception: false)
          return number.to_f / USEC if number&.positive?

          ignore("WATCHDOG_USEC", "#{usec.inspect} is not a number of microseconds")
        end
        private_class_method :watchdog

        # @return [nil]
        def self.ignore(variable, reason)
          Log.tell("#{variable} is ignored: #{reason}")
          nil
        end
        private_class_method :ignore

        # @return [Float] seconds from one tick to the next
        attr_reader :interval

        # @param socket [NotifySocket, nil]
        # @param watchdog [Numeric, nil] seconds without a sign of life after which the service manager kills the server
        def initialize(socket = nil, watchdog = nil)
          @socket = socket
          @watchdog = watchdog
          @interval = watchdog ? [watchdog / TICKS_PER_WATCHDOG, TICK_MAX].min : TICK_MAX
          @state = :starting
          @tick_at = Clock.now
          @lock = Mutex.new
        end

        # @return [Boolean] whether a service manager listens
        def on?
          !@socket.nil? && !@muted
        end

        # Sends nothing for now: only messages of the main process count.
        def mute
          @muted = true
        end

        # Sends again.
        def unmute
          @muted = false
        end

        # @return [Array<NotifySocket>] descriptors that a child process closes
        def ends
          [@socket].compact
        end

        # Reports that the server serves, at the start and after a reload.
        #
        # @param status [String]
        def ready(status)
          change(%i[starting reloading], :ready, ["READY=1", "MAINPID=#{Process.pid}"], status)
        end

        # Reports the beginning of a reload, perhaps during another one.
        #
        # @param status [String]
        # @return [Boolean] false when the server starts or stops, so that no reload ends
        def reloading(status)
          change(%i[ready reloading], :reloading, ["RELOADING=1", "MONOTONIC_USEC=#{(Clock.now * USEC).to_i}"], status)
        end

        # @return [Boolean]
        def reloading?
          @state == :reloading
        end

        # Reports a reload around the block. During another reload, the end of that one is the end of both.
        #
        # @param status [String] during the reload
        # @param afterwards [String] the status after it
        def reload(status, afterwards)
          outer = reloading?
          begun = reloading(status)
          yield
        ensure
          ready(afterwards) if begun && !outer
        end

        # Reports the beginning of a stop, without a wait: the drain follows.
        #
        # @param status [String]
        def stopping(status)
          change(%i[starting ready reloading], :stopping, ["STOPPING=1", extension], status, patience: 0)
        end

        # Makes the service manager follow another server's process. This one sends nothing more: only the main process may.
        #
        # @param pid [Integer]
        def hand_over(pid)
          @lock.synchronize do
            send(["MAINPID=#{pid}"])
            @socket = nil
          end
        end

        # @return [Float, nil] the time of the next tick, see {Clock}
        def deadline
          @tick_at if on?
        end

        # Sends what is due: a sign of life, more time, a changed status.
        #
        # @param status [String]
        # @param alive [Boolean] whether the server answers; a server that stops has its own deadline
        # @param now [Float]
        def tick(status, alive:, now: Clock.now)
          @lock.synchronize do
            due = now >= @tick_at
            @tick_at = now + interval if due
            send([*(signs(alive) if due), *changed(status)])
          end
        end

        private

        # @return [Boolean]
        def change(from, state, lines, status, patience: NotifySocket::PATIENCE)
          @lock.synchronize do
            return false unless from.include?(@state)

            @state = state
            @status = nil
            @unsent = [*lines, *changed(status)]
            send([], patience)
            true
          end
        end

        def signs(alive)
          [*("WATCHDOG=1" if @watchdog && (alive || @state == :stopping)), *(extension unless @state == :ready)]
        end

        def extension
          "EXTEND_TIMEOUT_USEC=#{EXTENSION * USEC}"
        end

        def changed(status)
          return [] if status == @status

          @status = status
          ["STATUS=#{status.tr("\n", " ")}"]
        end

        # A state that could not be sent is sent with the next message.
        def send(lines, patience = NotifySocket::PATIENCE)
          text = [*@unsent, *lines].join("\n")
          @unsent = nil if on? && !text.empty? && @socket.send(text, patience)
        end
      end
    end
  end
end
