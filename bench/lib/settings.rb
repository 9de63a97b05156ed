# frozen_string_literal: true

require_relative "candidates"
require_relative "workload_samples"
require_relative "workload"

module Bench
  # What to measure and for how long, from the environment; bench/README.md tells the variables.
  class Settings
    # @param workloads [Array] that may be chosen
    # @param candidates [Array] that may be chosen
    # @param seconds [Integer] of each measurement, unless told otherwise
    def initialize(environment = ENV, workloads: WORKLOADS, candidates: CANDIDATES, seconds: 5)
      @environment = environment
      @workloads = workloads
      @candidates = candidates
      @seconds = seconds
    end

    # @return [Array<WorkloadSamples>] to be filled, for the workloads that a chosen candidate can run
    def tables
      runnable = workloads.select { |workload| candidates.any? { |candidate| candidate.for?(workload) } }
      runnable.flat_map { |workload| (workload.connections || connections).map { |count| WorkloadSamples.new(workload, count) } }
    end

    def quick?
      @environment["QUICK"] == "1"
    end

    def rounds
      number("ROUNDS", quick? ? 1 : 5)
    end

    def seconds
      number("SECONDS", quick? ? 1 : @seconds)
    end

    def connections
      list("CONNECTIONS", quick? ? "64" : connections_default).map { |text| positive("CONNECTIONS", text) }
    end

    def workloads
      named("WORKLOADS", @workloads)
    end

    def candidates
      named("SERVERS", @candidates)
    end

    # @return [String] the last part of the results' file names
    def name
      @environment.fetch("NAME") { quick? ? "quick" : "ruby-#{RUBY_VERSION}" }
    end

    private

    def connections_default
      "64,1024"
    end

    def number(variable, default)
      positive(variable, @environment.fetch(variable, default.to_s))
    end

    def positive(variable, text)
      number = Integer(text, 10, exception: false)
      number&.positive? ? number : raise(ArgumentError, "#{variable}: #{text} is not a whole number above 0")
    end

    def list(variable, default)
      @environment.fetch(variable, default).split(",").map(&:strip)
    end

    def named(variable, all)
      names = list(variable, all.map(&:name).join(","))
      unknown = names - all.map(&:name)
      raise ArgumentError, "#{variable}: there is no #{unknown.join(", ")}; there are #{all.map(&:name).join(", ")}" if unknown.any?

      all.select { |each| names.include?(each.name) }
    end
  end
end
