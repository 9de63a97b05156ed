# frozen_string_literal: true

require_relative "sample"
require_relative "statistics"
require_relative "wrk"

module Bench
  # One workload at so many connections, on both.
  class CommitComparison
    STARTS = 3 # of each server: how a process comes to lie in memory is luck

    def initialize(commits, workload, connections, settings, options)
      @commits = commits
      @workload = workload
      @connections = connections
      @settings = settings
      @options = options
      @costs = commits.to_h { |commit| [commit, []] }
    end

    def run
      STARTS.times { serve_both { |servers| alternate(servers) } }
      self
    end

    def to_s
      cells = @costs.values.map do |costs|
        format("%<median>.2f (%<min>.2f–%<max>.2f)", median: Statistics.median(costs), min: costs.min, max: costs.max)
      end
      "| #{@workload.name} | #{@connections} | #{cells.join(" | ")} | #{ratio { |costs| Statistics.median(costs) }} | #{ratio(&:min)} |"
    end

    private

    def ratio(&figure)
      before, after = @costs.values.map(&figure)
      format("%.3f", after / before)
    end

    def serve_both
      before, after = @commits
      before.serve(@workload.app_name, *@options) do |old|
        after.serve(@workload.app_name, *@options) { |new| yield({ before => old, after => new }) }
      end
    end

    def alternate(servers)
      servers.each_value { |server| load(server, 1) }
      @settings.rounds.times do |round|
        order = round.even? ? servers : servers.to_a.reverse
        order.each { |commit, server| @costs[commit] << cost(server) }
      end
    end

    # @return [Float] microseconds of the processor for each request
    def cost(server)
      before = server.usage
      sample = Sample.of(load(server, @settings.seconds), before, server.usage)
      raise "#{@workload.name}: #{sample}" unless sample.errors.zero?

      sample.cpu_us
    end

    def load(server, seconds)
      request = @workload.request
      Wrk.run(url: server.url(request.path), connections: @connections, seconds: seconds, script: request.script)
    end
  end
end
