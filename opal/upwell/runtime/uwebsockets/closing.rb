# backtick_javascript: true
# frozen_string_literal: true

require "upwell/calm"
require "upwell/last_places"
require "upwell/runtime/uwebsockets/backlog"
require "upwell/socket_table"

module Upwell
  module Runtime
    class UWebSockets
      # How sockets that listen are closed.
      module Closing
        ANY = "127.0.0.1" # for who listens everywhere

        private

        # Where several processes listen at a port, none knows at which of them a client of its own would wait. Where there is little time,
        # another process would take too long to begin.
        #
        # @yield at the moment to close them
        # @return [void]
        def await_nobody(&alone)
          return Calm.await(-> { 0 }, &alone) if @addresses.any?(&:shared) || @server.grace_ms < Server::GRACE_MS

          addresses = @addresses.reject(&:path).map { |address| `{ address: #{address.host || ANY}, port: #{address.port} }` }
          descriptors = SocketTable.listening(`addresses.map(address => address.port)`)
          Backlog.shorten(descriptors, LastPlaces::BACKLOG) { LastPlaces.await(addresses, -> { 0 }, &alone) }
        end
      end
    end
  end
end
