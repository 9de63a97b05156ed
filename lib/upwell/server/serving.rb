# frozen_string_literal: true

module Upwell
  class Server
    # What {Server} and {StaticServer} have in common: one loop or several, where they listen, and how they end.
    module Serving
      # @return [Array<String>] where it listens
      attr_reader :urls

      # Accepts no more, and ends when everything in flight was answered. May be called in a trap handler.
      #
      # @param seconds [Numeric] the deadline
      # @param refuses [Boolean] whether clients that come now are refused, where others have the listening sockets, too; as a rule when they
      #   were opened here
      def drain(seconds = @configuration.drain_timeout, refuses: @owner)
        @reactors.each { |reactor| reactor.drain(seconds, refuses) }
      end

      # Has clients that come from now on find the certificates that the listeners have now.
      def renew
        @reactors.zip(listeners_of_loops) do |reactor, own|
          own.each { |listener| reactor.renew(listener.socket, listener.context) if listener.context }
        end
      end

      # Ends at once. May be called in a trap handler.
      def stop
        @reactors.each(&:stop)
      end

      # @return [String] the backend in use
      def backend
        @reactors.first.backend
      end

      # @return [String] for the operator: where, with which backend, and how requests are served
      def description
        "#{urls.join(", ")} (#{backend}, #{@configuration.description})"
      end

      private

      def listen
        @reactors.zip(listeners_of_loops) do |reactor, own|
          own.each { |listener| reactor.listen(listener.socket, listener.context) }
        end
      end

      def listeners_of_loops
        @listeners.each_slice(@listeners.size / @reactors.size).to_a
      end
    end
  end
end
