# frozen_string_literal: true

require "fileutils"
require "open3"
require "uri"
require_relative "../lib/gem_installation"
require_relative "../lib/wrk"

module Bench
  module Tls
    # One run of our own load generator of handshakes (handshakes.c), on the core that is wrk's otherwise.
    class Handshakes
      SOURCE = File.join(__dir__, "handshakes.c")
      PROGRAM = File.join(GemInstallation::CACHE, "handshakes")

      # @param kind ["full", "resumed"]
      def initialize(kind)
        @kind = kind
      end

      # @return [Array<String>]
      def command(url:, connections:, seconds:, **)
        ["taskset", "-c", Wrk::CORE.to_s, PROGRAM, URI(url).port.to_s, connections.to_s, seconds.to_s, @kind]
      end

      # @return [Wrk::Result]
      def run(under: [], **options)
        compile
        before = children_cpu
        output, status = Open3.capture2e(*under, *command(**options))
        raise Wrk::Error, "handshakes failed: #{output.lines.last.to_s.strip}" unless status.success?

        parse(output, children_cpu - before)
      end

      # @return [Wrk::Result]
      def parse(output, cpu_seconds)
        figures = output.lines.to_h { |line| line.split.then { |name, number| [name.to_sym, number.to_f] } }
        handshakes, seconds = figures.fetch_values(:handshakes, :seconds)
        Wrk::Result.new(handshakes.to_i, seconds, handshakes / seconds, figures.fetch(:p50), figures.fetch(:p99),
                        figures.fetch(:failures).to_i, 0, cpu_seconds, figures.fetch(:bytes))
      end

      private

      def compile
        return if FileUtils.uptodate?(PROGRAM, [SOURCE])

        output, status = Open3.capture2e("cc", "-O2", "-pthread", "-o", PROGRAM, SOURCE, "-lssl", "-lcrypto")
        raise Wrk::Error, "handshakes.c does not compile: #{output.lines.grep(/error/).first}" unless status.success?
      end

      def children_cpu
        times = Process.times
        times.cutime + times.cstime
      end
    end
  end
end
