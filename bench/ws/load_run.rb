# frozen_string_literal: true

require_relative "../lib/load_run"

module Bench
  module Ws
    # A run in which connecting and closing are not counted with the messages.
    class LoadRun < Bench::LoadRun
      private

      def measure(server, seconds)
        readings = [server.usage]
        result = load(server, seconds) { readings << server.usage }
        server.assert_alive
        raise Server::Error, "no message came, #{result.socket_errors} errors" unless result.requests.positive?

        Sample.of(result, *readings.last(2))
      end

      def load(server, seconds, under: [], &tell)
        @generator.run(url: server.url, connections: @connections, seconds: seconds, under: under, &tell)
      end

      # What two processes share counts once.
      def memory(server)
        server.pids.sum { |pid| File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s+(\d+) kB/, 1].to_i * 1024 }
      end
    end
  end
end
