# frozen_string_literal: true

require_relative "candidates"
require_relative "installation"
require_relative "sample"
require_relative "server"
require_relative "table"
require_relative "wrk"

module Bench
  # Runs every server at every workload. The servers take turns (A B C, A B C, ...), each time started anew, so that what else the machine
  # does meets all of them alike. A server that fails is left out of the table's further rounds, and the table tells why.
  class Benchmark
    WARM_UP_SECONDS = 1 # of load before each run: the compiler's time

    # @return [Array<Table>]
    attr_reader :tables

    # @param settings [Settings]
    # @param log [IO]
    def initialize(settings, log: $stderr)
      @settings = settings
      @log = log
      workloads = settings.workloads.select { |workload| settings.candidates.any? { |candidate| candidate.for?(workload) } }
      @tables = workloads.product(settings.connections).map { |workload, connections| Table.new(workload, connections) }
    end

    # @return [self]
    def run
      @missing = install
      @tables.each { |table| fill(table) }
      self
    end

    # @return [Hash{Candidate => String}] the gems it runs on, or why they are missing
    def versions
      @settings.candidates.to_h do |candidate|
        [candidate, @missing[candidate.gem_name] || Installation.new(candidate.gem_name).versions]
      end
    end

    private

    # @return [Hash{String => String}] why a gem is missing
    def install
      @settings.candidates.map(&:gem_name).uniq.each_with_object({}) do |gem_name, missing|
        @log.puts "installing #{gem_name}"
        Installation.new(gem_name).install
      rescue Installation::Error => e
        missing[gem_name] = e.message
      end
    end

    def fill(table)
      candidates = @settings.candidates.select { |candidate| candidate.for?(table.workload) }
      candidates.each { |candidate| table.fail(candidate, @missing[candidate.gem_name]) if @missing[candidate.gem_name] }
      @settings.rounds.times do
        (candidates - table.failures.keys).each { |candidate| take_turn(table, candidate) }
      end
    end

    def take_turn(table, candidate)
      sample = measure(candidate, table.workload, table.connections)
      table.add(candidate, sample)
      say(table, candidate, format("%.0f requests/s, %.1f µs", sample.requests_per_second, sample.cpu_us))
    rescue Server::Error => e
      table.fail(candidate, e.message)
      say(table, candidate, e.message)
    end

    def say(table, candidate, text)
      @log.puts "#{table.workload.name}, #{table.connections} connections, #{candidate.name}: #{text}"
    end

    def measure(candidate, workload, connections)
      installation = Installation.new(candidate.gem_name)
      Server.open(candidate.method(:arguments), installation: installation, app: workload.app) do |server|
        check(server, workload)
        load(server, workload, connections, WARM_UP_SECONDS)
        before = server.usage
        result = load(server, workload, connections, @settings.seconds)
        server.assert_alive
        Sample.of(result, before, server.usage)
      end
    end

    def check(server, workload)
      objection = workload.objection(server.request(workload.request_body))
      raise Server::Error, "answers wrongly: #{objection}" if objection
    end

    def load(server, workload, connections, seconds)
      result = Wrk.run(url: server.url, connections: connections, seconds: seconds, script: workload.script_path)
      return result if result.requests.positive?

      raise Wrk::Error, "answered no request, #{result.socket_errors} socket errors"
    rescue Wrk::Error => e
      raise Server::Error, "#{e.message}; the server's last words: #{server.last_words}"
    end
  end
end
