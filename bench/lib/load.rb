# frozen_string_literal: true

require_relative "sample"
require_relative "server"
require_relative "wrk"

module Bench
  # One run of wrk against a server that is started anew, checked and warmed up for it.
  class Load
    WARM_UP_SECONDS = 1 # of load: the compiler's time

    # @param candidate [#arguments, #installation]
    # @param workload [#app, #objection, #request_body, #script_path, #wrk_threads]
    def initialize(candidate, workload, connections)
      @candidate = candidate
      @workload = workload
      @connections = connections
    end

    # @return [Sample]
    # @raise [Server::Error, Wrk::Error]
    def sample(seconds)
      Server.open(@candidate.method(:arguments), installation: @candidate.installation, app: @workload.app) do |server|
        check(server)
        load(server, WARM_UP_SECONDS)
        measure(server, seconds)
      end
    end

    private

    def check(server)
      objection = @workload.objection(server.request(@workload.request_body))
      raise Server::Error, "answers wrongly: #{objection}" if objection
    end

    def measure(server, seconds)
      before = server.usage
      result = load(server, seconds)
      server.assert_alive
      raise Server::Error, "answered no request, #{result.socket_errors} socket errors" unless result.requests.positive?

      Sample.of(result, before, server.usage)
    end

    def load(server, seconds)
      Wrk.run(url: server.url, connections: @connections, seconds: seconds, threads: @workload.wrk_threads(@connections),
              script: @workload.script_path)
    end
  end
end
