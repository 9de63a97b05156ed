# frozen_string_literal: true

require_relative "sample"
require_relative "server"
require_relative "system_calls"
require_relative "wrk"

module Bench
  # One run of a load generator against a server that is started anew, checked and warmed up for it.
  class LoadRun
    WARM_UP_SECONDS = 1 # of load: the compiler's time

    # @param candidate [#arguments, #installation]
    # @param workload [#app, #objection, #request, #wrk_threads]
    # @param generator [#run] {Wrk} or {Ab}
    # @param warm_up [Boolean]
    # @param secure [Boolean] by TLS
    def initialize(candidate, workload, connections, generator: Wrk, warm_up: true, secure: false)
      @candidate = candidate
      @workload = workload
      @connections = connections
      @generator = generator
      @warm_up = warm_up
      @secure = secure
    end

    # @return [Sample]
    # @raise [Server::Error, Wrk::Error]
    def sample(seconds)
      Server.open(@candidate.method(:arguments), installation: @candidate.installation, app: @workload.app, secure: @secure) do |server|
        check(server)
        system_calls = warm_up(server) if @warm_up
        measure(server, seconds).tap { |sample| sample.system_calls = system_calls }
      end
    end

    private

    def check(server)
      objection = @workload.objection(server.request(@workload.request))
      raise Server::Error, "answers wrongly: #{objection}" if objection
    end

    # @return [Float, nil] system calls a request
    def warm_up(server)
      result, calls = SystemCalls.count(server.pids) { |counter| load(server, WARM_UP_SECONDS, under: counter) }
      calls.fdiv(result.requests) if calls && result.requests.positive?
    end

    def measure(server, seconds)
      before = server.usage
      result = load(server, seconds)
      server.assert_alive
      raise Server::Error, "answered no request, #{result.socket_errors} socket errors" unless result.requests.positive?

      Sample.of(result, before, server.usage)
    end

    def load(server, seconds, under: [])
      request = @workload.request
      @generator.run(url: server.url(request.path), connections: @connections, seconds: seconds,
                     threads: @workload.wrk_threads(@connections), script: request.script, headers: request.headers, under: under)
    end
  end
end
