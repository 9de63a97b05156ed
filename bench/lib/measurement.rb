# frozen_string_literal: true

require_relative "statistics"

module Bench
  # One run of wrk against one server, and what it took.
  #
  # @!attribute p50 [Float] milliseconds
  # @!attribute p99 [Float] milliseconds
  # @!attribute errors [Integer] of sockets, and answers other than 2xx
  # @!attribute user [Float] the server's CPU microseconds per request
  # @!attribute system [Float] the same in the kernel
  # @!attribute resident [Integer] bytes
  # @!attribute peak [Integer] bytes
  # @!attribute server_share [Float] of its core, 0 to 1
  # @!attribute wrk_share [Float] of its core, 0 to 1
  Measurement = Struct.new(:requests_per_second, :p50, :p99, :errors, :user, :system, :resident, :peak, :server_share, :wrk_share) do
    # @param load [Wrk::Result]
    # @param before [ProcessUsage]
    # @param after [ProcessUsage]
    def self.of(load, before, after)
      user = after.user - before.user
      system = after.system - before.system
      microseconds = 1_000_000.0 / load.requests
      new(load.requests_per_second, load.p50, load.p99, load.socket_errors + load.bad_statuses, user * microseconds, system * microseconds,
          after.resident, after.peak, (user + system) / load.seconds, load.cpu_seconds / load.seconds)
    end

    # @return [Measurement] the median of each figure, and the sum of the errors
    def self.median(measurements)
      new(*measurements.map(&:to_a).transpose.map { |values| Statistics.median(values) }).tap do |median|
        median.errors = measurements.sum(&:errors)
      end
    end

    def cpu
      user + system
    end
  end
end
