# frozen_string_literal: true

require "open3"
require_relative "wrk"

module Bench
  # One run of the load generator ab over kept connections, on the core that is wrk's otherwise.
  module Ab
    REQUESTS = 100_000

    class << self
      # @return [Array<String>]
      def command(url:, connections:, headers: {})
        fields = headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
        ["taskset", "-c", Wrk::CORE.to_s, "ab", "-q", "-k", "-n", REQUESTS.to_s, "-c", connections.to_s, *fields, url]
      end

      # It takes as long as its requests do, and has one thread and no scripts.
      #
      # @return [Wrk::Result]
      def run(url:, connections:, headers: {}, **)
        before = Process.times.then { |times| times.cutime + times.cstime }
        output, status = Open3.capture2e(*command(url: url, connections: connections, headers: headers))
        raise Wrk::Error, "ab failed: #{output.lines.last.to_s.strip}" unless status.success?

        parse(output, Process.times.then { |times| times.cutime + times.cstime } - before)
      end

      # @return [Wrk::Result]
      def parse(output, cpu_seconds)
        figure = ->(name) { output[/^#{name}:?\s+([\d.]+)/, 1].to_f }
        Wrk::Result.new(figure["Complete requests"].to_i, figure["Time taken for tests"], figure["Requests per second"],
                        figure["\\s+50%"], figure["\\s+99%"], figure["Failed requests"].to_i, figure["Non-2xx responses"].to_i, cpu_seconds,
                        figure["Total transferred"])
      end
    end
  end
end
