# frozen_string_literal: true

# 15,000 connections at once to `upwell static`, while its files are replaced and other clients leave in the middle of a download. Fails when a
# request does, or when a descriptor stays behind. See bench/README.md.

require "tmpdir"
require_relative "../lib/concurrent_clients"
require_relative "../lib/descriptor_limit"
require_relative "../lib/machine"
require_relative "../lib/server"
require_relative "../lib/upwell_checkout"
require_relative "../lib/wrk"

module Bench
  module Static
    # The folder that is served. A file is replaced as a deployment does it: another one takes its name.
    class ChangingSite
      FILES = { "/1k.html" => 1024, "/100k.html" => 102_400, "/10m.html" => 10_485_760 }.freeze

      attr_reader :replaced

      def initialize(folder)
        @folder = folder
        @replaced = 0
        FILES.each_key { |path| replace(path) }
      end

      def replace(path)
        File.binwrite(File.join(@folder, "new"), "x" * FILES.fetch(path))
        File.rename(File.join(@folder, "new"), File.join(@folder, path))
        @replaced += 1
      end
    end

    # The load of one server.
    class ManyConnections
      PATHS = ChangingSite::FILES.keys.first(2) # that wrk asks for, one after the other
      LEAVING = 20 # at a time
      ANSWER_MAX = 60 # seconds, with all that go before it
      RELEASE_MAX = 20 # seconds, for the server to notice that all have left
      MEBIBYTE = 1_048_576.0

      def initialize(server, site, connections:, seconds:)
        @server = server
        @site = site
        @connections = connections
        @seconds = seconds
        @crowd = ConcurrentClients.new(LEAVING) { |crowd| leave_in_download(crowd) }
        @readings = []
      end

      # @return [Array<String>] what is wrong
      def run
        before = @server.usage
        results = beside { PATHS.map { |path| Wrk.run(url: @server.url(path), **load) } }
        left = left_behind(before.descriptors)
        tell(results, before)
        [*results.flat_map { |result| complaints(result) }, *("#{left} descriptors left behind" if left.positive?),
         *("only #{most_connections} connections at a time" if most_connections < @connections)]
      end

      private

      def load
        { connections: @connections, seconds: @seconds, timeout: ANSWER_MAX }
      end

      def leave_in_download(crowd)
        client = crowd.client(@server.port)
        client.get(ChangingSite::FILES.keys.last)
        client.read
      ensure
        client&.close
      end

      # Replaces files, has clients leave and reads the server's usage for as long as the block takes.
      def beside
        over = false
        thread = Thread.new do
          until over
            @crowd.run_for(0.5)
            @site.replace(ChangingSite::FILES.keys.sample)
            @readings << @server.usage
          end
          @crowd.finish
        end
        yield
      ensure
        over = true
        thread.join
      end

      def most_connections
        @readings.map(&:descriptors).max
      end

      def left_behind(before)
        allowance = ChangingSite::FILES.size # the cache keeps files open
        deadline = now + RELEASE_MAX
        sleep 0.1 until @server.usage.descriptors <= before + allowance || now > deadline
        [@server.usage.descriptors - before - allowance, 0].max
      end

      def complaints(result)
        { "failed connects, reads, writes and time-outs" => result.socket_errors, "wrong statuses" => result.bad_statuses }
          .reject { |_name, count| count.zero? }.map { |name, count| "#{count} #{name}" }
      end

      def tell(results, before)
        PATHS.zip(results) { |path, result| puts format("  %-12s %d answers, %.0f/s", path, result.requests, result.requests_per_second) }
        puts format("  %d files replaced, %d clients left, at most %d descriptors, %.1f MiB above the empty server", @site.replaced,
                    @crowd.visits, most_connections, (@server.usage.peak - before.resident) / MEBIBYTE)
        @crowd.failures.each { |message, count| puts "  of those that left: #{count} times #{message}" }
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end

SPARE_DESCRIPTORS = 200
connections = Integer(ENV.fetch("CONNECTIONS", "15000"), 10)
Bench::DescriptorLimit.allow(connections, SPARE_DESCRIPTORS)

$stdout.sync = true
upwell = Bench::UpwellCheckout.new
backends = ENV["BACKENDS"]&.split(",") || upwell.backends.first(2)
complaints = backends.flat_map do |backend|
  Dir.mktmpdir("upwell-crowd") do |folder|
    site = Bench::Static::ChangingSite.new(folder)
    puts "#{connections} connections, #{backend}, #{Bench::Machine.description.fetch("Ruby")}"
    upwell.serve_files(folder, "--backend", backend, "--connections-max", (connections + SPARE_DESCRIPTORS).to_s) do |server|
      crowd = Bench::Static::ManyConnections.new(server, site, connections: connections, seconds: Integer(ENV.fetch("SECONDS", "10"), 10))
      crowd.run.map { |text| "#{backend}: #{text}" }
    end
  end
end
abort complaints.join("\n") if complaints.any?
puts "0 failed"
