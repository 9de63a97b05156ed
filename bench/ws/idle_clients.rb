# frozen_string_literal: true

require_relative "load_run"

module Bench
  module Ws
    # A run in which clients connect and wait: what memory the server has for them, above what it had before.
    class IdleClients < LoadRun
      WARM_UP_CONNECTIONS = 50

      private

      def warm_up(server)
        @generator.run(url: server.url, connections: WARM_UP_CONNECTIONS, seconds: WARM_UP_SECONDS)
        nil
      end

      # The rate is that of connecting.
      def measure(server, seconds)
        readings = [Time.now, server.usage, memory(server)]
        result = load(server, seconds) { readings << Time.now << server.usage << memory(server) }
        server.assert_alive
        began, before, empty, connected, after, _, _, _, full = readings
        result.requests_per_second = @connections / (connected - began)
        result.seconds = connected - began
        Sample.of(result, before, after).tap { |sample| sample.client_bytes = (full - empty).fdiv(@connections) }
      end
    end
  end
end
