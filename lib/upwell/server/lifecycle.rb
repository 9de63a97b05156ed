# frozen_string_literal: true

module Upwell
  class Server
    # Code that {Server} and {StaticServer} share: loops, listeners and shutdown.
    module Lifecycle
      # @return [Array<String>] the URLs of the listeners
      attr_reader :urls

      # Announces a drain: readiness checks fail, and each response ends its connection. Clients are still accepted and served.
      def announce_drain
        @reactors.each(&:announce_drain)
      end

      # Drains the server: it accepts no more clients, and ends when all requests are answered. A trap handler may call this method.
      #
      # @param seconds [Numeric] the deadline
      # @param refuses [Boolean] whether the kernel refuses new clients although other processes share the listening sockets; the default is
      #   true for sockets that this server opened
      def drain(seconds = @configuration.drain_timeout, refuses: @owner)
        @reactors.each { |reactor| reactor.drain(seconds, refuses) }
      end

      # Uses the listeners' current certificates for new connections.
      def renew
        @reactors.zip(listeners_of_loops) do |reactor, own|
          own.each { |listener| reactor.renew(listener.socket, listener.context) if listener.context }
        end
      end

      # Ends the server immediately. A trap handler may call this method.
      def stop
        @reactors.each(&:stop)
      end

      # Checks whether the loop turns. Files are served without Ruby, so nothing blocks the loops of a file server.
      #
      # @param _seconds [Numeric] for which a request may block the loop
      # @return [Boolean]
      def turning?(_seconds)
        true
      end

      # @return [String] the addresses, for the log
      def addresses
        Listening::Listeners.describe(@listeners)
      end

      # @return [String] the backend in use
      def backend
        @reactors.first.backend
      end

      # @return [String] addresses, backend and mode, for the log
      def description
        "#{addresses} (#{backend}, #{@configuration.description})"
      end

      private

      def listen
        @reactors.zip(listeners_of_loops) do |reactor, own|
          own.each { |listener| reactor.listen(listener.socket, listener.context, listener.inherited) }
        end
      end

      def tell_lost_lines
        lost = @reactors.sum(&:log_lines_lost)
        Log.tell "#{lost} access log lines were dropped; check the log's disk, or the program that reads the log" if lost.positive?
      end

      def listeners_of_loops
        @listeners.each_slice(@listeners.size / @reactors.size).to_a
      end
    end
  end
end
