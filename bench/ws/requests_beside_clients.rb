# frozen_string_literal: true

require_relative "../lib/wrk"
require_relative "load_run"

module Bench
  module Ws
    # What requests for hello world cost while clients wait.
    class RequestsBesideClients < LoadRun
      CONNECTIONS = 64 # of wrk
      START_SECONDS = 1 # of wrk, at most

      private

      def warm_up(server)
        ask(server, WARM_UP_SECONDS)
        nil
      end

      def measure(server, seconds)
        sample = nil
        load(server, seconds + START_SECONDS) { sample ||= sample_of_requests(server, seconds) }
        server.assert_alive
        sample
      end

      def sample_of_requests(server, seconds)
        before = server.usage
        result = ask(server, seconds)
        Sample.of(result, before, server.usage)
      end

      def ask(server, seconds)
        Wrk.run(url: server.url, connections: CONNECTIONS, seconds: seconds)
      end
    end
  end
end
