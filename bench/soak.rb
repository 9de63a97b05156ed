# frozen_string_literal: true

# Clients that leave at every stage of a request, for minutes, against each backend. Prints memory and descriptors as they go, and
# fails when either grows after the warm-up, when descriptors stay behind, or when a client that behaved was not served. See README.md.

require_relative "lib/concurrent_clients"
require_relative "lib/growth_detector"
require_relative "lib/upwell_checkout"
require_relative "lib/client_behaviors"

module Bench
  # The soak of one server.
  class Soak
    CLIENTS = 50
    SAMPLE_SECONDS = 2
    MEBIBYTE = 1_048_576.0
    MEMORY_ALLOWANCE = 2 * MEBIBYTE
    DESCRIPTOR_ALLOWANCE = 10 # clients come and go
    RELEASE_MAX = 20 # seconds, for the server to notice that all have left

    # @param random [Random]
    def initialize(server, minutes:, random:)
      @server = server
      @seconds = minutes * 60
      @crowd = ConcurrentClients.new(CLIENTS) { |crowd| ClientBehaviors.new(crowd, server.port, random).make }
      @readings = []
    end

    # @return [Array<String>] what is wrong
    def run
      before = @server.usage.descriptors
      sample until @readings.size * SAMPLE_SECONDS >= @seconds
      @crowd.finish
      left = left_behind(before)
      puts "  #{@crowd.visits} visits, #{left} descriptors left behind"
      [*growth("memory", :resident, MEMORY_ALLOWANCE), *growth("descriptors", :descriptors, DESCRIPTOR_ALLOWANCE),
       *("#{left} descriptors left behind" if left.positive?), *failures]
    end

    private

    def sample
      @crowd.run_for(SAMPLE_SECONDS)
      usage = @server.usage
      @readings << usage
      puts format("  %4d s %7.1f MiB %5d descriptors %8d visits", @readings.size * SAMPLE_SECONDS, usage.resident / MEBIBYTE,
                  usage.descriptors, @crowd.visits)
    end

    def left_behind(before)
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + RELEASE_MAX
      sleep 0.1 until @server.usage.descriptors <= before || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      [@server.usage.descriptors - before, 0].max
    end

    def growth(name, quantity, allowance)
      growth = GrowthDetector.new(@readings.map(&quantity), allowance: allowance)
      ["#{name} grew: #{growth}"] if growth.found?
    end

    def failures
      @crowd.failures.map { |message, count| "#{count} times: #{message}" }
    end
  end
end

$stdout.sync = true
upwell = Bench::UpwellCheckout.new
mode = ENV.fetch("MODE", "inline")
seed = Integer(ENV.fetch("SEED") { Random.new_seed % 100_000 })
backends = ENV["BACKENDS"]&.split(",") || upwell.backends
complaints = backends.flat_map do |backend|
  puts "#{backend}, #{mode}, seed #{seed}"
  upwell.serve("soak", "--backend", backend, "--mode", mode) do |server|
    Bench::Soak.new(server, minutes: Float(ENV.fetch("MINUTES", "5")), random: Random.new(seed)).run.map { |text| "#{backend}: #{text}" }
  end
end
abort complaints.join("\n") if complaints.any?
puts "nothing grew, nobody was turned away"
