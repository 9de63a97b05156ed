# frozen_string_literal: true

module Bench
  # One run of a load generator against one server: what the generator saw, and what the server's processes took for it.
  #
  # @!attribute rate [Float] requests a second
  # @!attribute user_us [Float] CPU microseconds a request
  # @!attribute system_us [Float] CPU microseconds a request
  # @!attribute core_share [Float] of the server's core, 0 to 1
  # @!attribute wrk_share [Float] of the load generator's core, 0 to 1
  # @!attribute gigabytes [Float] received a second
  # @!attribute faults [Integer] page faults since the server began: some take their memory at the start, others when it is needed
  # @!attribute system_calls [Float, nil] a request, from a run of its own; nil where they cannot be counted
  # @!attribute client_bytes [Float, nil] of memory that the server has for each client; nil where that is not measured
  Sample = Struct.new(:rate, :p50, :p99, :user_us, :system_us, :errors, :resident, :peak, :core_share, :wrk_share, :gigabytes, :faults,
                      :system_calls, :client_bytes) do
    # @param load [Wrk::Result]
    # @param before [ProcessUsage]
    # @param after [ProcessUsage]
    def self.of(load, before, after)
      user = after.user - before.user
      system = after.system - before.system
      microseconds = 1_000_000.0 / load.requests
      new(load.requests_per_second, load.p50, load.p99, user * microseconds, system * microseconds,
          load.socket_errors + load.bad_statuses, after.resident, after.peak, (user + system) / load.seconds, load.cpu_seconds / load.seconds,
          load.bytes / load.seconds / 1e9, after.faults)
    end

    # @return [Float] CPU microseconds of the load generator a request
    def load_us
      wrk_share * 1_000_000 / rate
    end

    def cpu_us
      user_us + system_us
    end
  end
end
