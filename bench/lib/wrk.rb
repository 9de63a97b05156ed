# frozen_string_literal: true

require "open3"

module Bench
  # One run of the load generator wrk, pinned to a core of its own.
  module Wrk
    Error = Class.new(StandardError)

    # @!attribute p50 [Float] milliseconds
    # @!attribute p99 [Float] milliseconds
    # @!attribute socket_errors [Integer] failed or timed out connects, reads and writes
    # @!attribute bad_statuses [Integer] answers of status 400 and above, which wrk calls "Non-2xx or 3xx"
    # @!attribute cpu_seconds [Float] that wrk itself took
    # @!attribute bytes [Float] received, heads included
    Result = Struct.new(:requests, :seconds, :requests_per_second, :p50, :p99, :socket_errors, :bad_statuses, :cpu_seconds, :bytes)

    CORE = 1
    MILLISECONDS = { "us" => 0.001, "ms" => 1.0, "s" => 1000.0, "m" => 60_000.0, "h" => 3_600_000.0 }.freeze
    BYTES = { "B" => 1, "KB" => 1024, "MB" => 1024**2, "GB" => 1024**3, "TB" => 1024**4 }.freeze
    SECONDS = MILLISECONDS.transform_values { |milliseconds| milliseconds / 1000 }.freeze

    class << self
      # @param headers [Hash{String => String}] of each request
      # @param timeout [Integer] seconds for an answer, after which it counts as an error
      # @return [Array<String>]
      def command(url:, connections:, seconds:, threads: 1, script: nil, headers: {}, timeout: nil)
        fields = headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
        ["taskset", "-c", CORE.to_s, "wrk", "--latency", "-t#{threads}", "-c#{connections}", "-d#{seconds}s", *(["-s", script] if script),
         *(["--timeout", timeout.to_s] if timeout), *fields, url]
      end

      # @param under [Array<String>] a command that runs wrk
      # @return [Result]
      def run(under: [], **options)
        before = children_cpu
        output, status = Open3.capture2e(*under, *command(**options))
        raise Error, "wrk failed: #{output.strip}" unless status.success?

        parse(output, children_cpu - before)
      end

      # @return [Result]
      def parse(output, cpu_seconds)
        requests, number, unit, amount, amount_unit = output.match(/(\d+) requests in ([\d.]+)([a-z]+), ([\d.]+)([A-Z]+) read/)&.captures
        raise Error, "wrk said what is not understood: #{output.strip}" unless requests

        Result.new(requests.to_i, number.to_f * SECONDS.fetch(unit), output[%r{^Requests/sec:\s+([\d.]+)}, 1].to_f,
                   percentile(output, 50), percentile(output, 99), socket_errors(output), output[/^\s+Non-2xx.*: (\d+)/, 1].to_i,
                   cpu_seconds, amount.to_f * BYTES.fetch(amount_unit))
      end

      private

      def percentile(output, percent)
        number, unit = output.match(/^\s+#{percent}%\s+([\d.]+)([a-z]+)/)&.captures
        number.to_f * MILLISECONDS.fetch(unit || "ms")
      end

      def socket_errors(output)
        output[/Socket errors:(.*)/, 1].to_s.scan(/\d+/).sum(&:to_i)
      end

      # wrk is the only child that is waited for while it runs.
      def children_cpu
        times = Process.times
        times.cutime + times.cstime
      end
    end
  end
end
