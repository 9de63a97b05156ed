# frozen_string_literal: true

require_relative "measurement"

module Bench
  # One server's measurements, one a round; or why there are none.
  Result = Struct.new(:candidate, :measurements, :failure) do
    def median
      @median ||= Measurement.median(measurements)
    end

    def slowest
      measurements.map(&:requests_per_second).min
    end

    def fastest
      measurements.map(&:requests_per_second).max
    end
  end

  # All servers at one workload over so many connections.
  Comparison = Struct.new(:workload, :connections, :results) do
    WRK_SHARE_MAX = 0.95 # of its core; above, wrk may be what limits the requests per second

    def measured
      results.reject(&:failure)
    end

    # @return [Float, nil] requests per second of the fastest server other than Upwell
    def best_peer_requests
      peers.map { |result| result.median.requests_per_second }.max
    end

    # @return [Float, nil] CPU microseconds per request of the thriftiest server other than Upwell
    def best_peer_cpu
      peers.map { |result| result.median.cpu }.min
    end

    # @return [Array<Result>] of the servers that wrk did not fully load
    def limited_by_wrk
      measured.select { |result| result.median.wrk_share > WRK_SHARE_MAX }
    end

    private

    def peers
      measured.reject { |result| result.candidate.upwell? }
    end
  end
end
