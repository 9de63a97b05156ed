# frozen_string_literal: true

require_relative "candidates"
require_relative "comparison"
require_relative "installation"
require_relative "server"
require_relative "wrk"

module Bench
  # Runs every server at every workload. The servers take turns (A B C, A B C, ...), each time started anew, so that what else the machine
  # does meets all of them alike. A server that fails is left out, and its result tells why.
  class Benchmark
    WARM_UP = 1 # seconds of load before each run: the compiler's time

    # @param options [Options]
    # @param log [IO]
    def initialize(options, log: $stderr)
      @options = options
      @log = log
    end

    # @return [Array<Comparison>]
    def run
      @failures = install
      @options.workloads.product(@options.connections).map { |workload, connections| compare(workload, connections) }
    end

    private

    # @return [Hash{String => String}] why a gem is not there
    def install
      @options.candidates.map(&:gem_name).uniq.each_with_object({}) do |gem_name, failures|
        @log.puts "installing #{gem_name}"
        Installation.new(gem_name).install
      rescue Installation::Error => e
        failures[gem_name] = e.message
      end
    end

    def compare(workload, connections)
      candidates = @options.candidates.select { |candidate| candidate.for?(workload) }
      results = candidates.map { |candidate| Result.new(candidate, [], @failures[candidate.gem_name]) }
      @options.rounds.times { |round| results.each { |result| take_turn(result, workload, connections, round) } }
      Comparison.new(workload, connections, results)
    end

    def take_turn(result, workload, connections, round)
      return if result.failure

      measurement = measure(result.candidate, workload, connections)
      result.measurements << measurement
      @log.puts format("%-8s %5d connections, round %d: %-16s %7.0f requests/s %6.1f us", workload.name, connections, round + 1,
                       result.candidate.name, measurement.requests_per_second, measurement.cpu)
    rescue Server::Error, Wrk::Error => e
      result.failure = e.message
      @log.puts "#{workload.name}: #{result.candidate.name} #{e.message}"
    end

    def measure(candidate, workload, connections)
      installation = Installation.new(candidate.gem_name)
      Server.open(candidate.method(:arguments), installation: installation, app: workload.app) do |server|
        check(server, workload)
        load(server, workload, connections, WARM_UP)
        before = server.usage
        result = load(server, workload, connections, @options.seconds)
        raise Server::Error, "answered no request in #{@options.seconds} s" if result.requests.zero?

        server.assert_alive
        Measurement.of(result, before, server.usage)
      end
    end

    def check(server, workload)
      objection = workload.objection(server.request(workload.request_body))
      raise Server::Error, "answers wrongly: #{objection}" if objection
    end

    def load(server, workload, connections, seconds)
      Wrk.run(url: server.url, connections: connections, seconds: seconds, script: workload.script_path)
    end
  end
end
