# frozen_string_literal: true

require_relative "statistics"

module Bench
  # One workload at one number of connections: the samples of each candidate, or why there are none.
  class WorkloadSamples
    SATURATED = 0.95 # of a core

    attr_reader :workload, :connections, :failures

    # @param connections [Integer, nil] nil for a workload without a load generator
    def initialize(workload, connections)
      @workload = workload
      @connections = connections
      @samples = {}
      @failures = {}
    end

    # @return [String]
    def title
      connections ? "#{workload.title}, #{connections} connections" : workload.title
    end

    def add(candidate, sample)
      (@samples[candidate] ||= []) << sample
    end

    # Whoever fails once has no figures in this table.
    def fail(candidate, reason)
      @samples.delete(candidate)
      @failures[candidate] = reason
    end

    # @return [Array<Candidate>] the fastest first
    def candidates
      @samples.keys.sort_by { |candidate| -median(candidate, :rate) }
    end

    def values(candidate, quantity)
      @samples.fetch(candidate).map(&quantity)
    end

    def median(candidate, quantity)
      Statistics.median(values(candidate, quantity))
    end

    # @return [Float, nil] the candidate's median against the best one that is not Upwell
    def ratio_to_best_peer(candidate, quantity, best)
      peers = @samples.keys.reject(&:upwell?).map { |peer| median(peer, quantity) }.select(&:positive?)
      median(candidate, quantity) / peers.public_send(best) unless peers.empty?
    end

    # wrk had no more to give while the server had: its requests/s say nothing then.
    def held_back_by_wrk?(candidate)
      median(candidate, :wrk_share) >= SATURATED && median(candidate, :core_share) < SATURATED
    end
  end
end
