# frozen_string_literal: true

require "open3"
require "uri"
require_relative "../lib/gem_installation"
require_relative "../lib/wrk"

module Bench
  module Ws
    # One run of our own load generator (load_generator/), on the core that is wrk's otherwise.
    class LoadGeneratorProcess
      PROGRAM = File.join(ROOT, "build/ws-load")

      # Compiles the program, unless it is there.
      #
      # @raise [Wrk::Error]
      def self.make
        output, status = Open3.capture2e("make", "--no-print-directory", "-C", File.join(__dir__, "load_generator"))
        raise Wrk::Error, "the load generator does not compile: #{output.lines.grep(/error/i).first}" unless status.success?
      end

      # @param workload [String] as load_generator/options.h names it
      # @param options [Array<String>] more of the command line
      def initialize(workload, *options)
        @workload = workload
        @options = options
      end

      # @return [LoadGeneratorProcess] with more options
      def with(*options)
        LoadGeneratorProcess.new(@workload, *@options, *options)
      end

      # @return [Array<String>]
      def command(url:, connections:, seconds:, **)
        ["taskset", "-c", Wrk::CORE.to_s, PROGRAM, @workload, *@options, "-p", URI(url).port.to_s, "-c", connections.to_s,
         "-s", seconds.to_s]
      end

      # @yield when all clients are connected, and when the work is done
      # @return [Wrk::Result]
      # @raise [Wrk::Error] with what the program says
      def run(under: [], **options, &tell)
        output, failure, status = Open3.popen3(*under, *command(**options)) do |input, out, err, thread|
          output = follow(out, &tell)
          input.close
          [output, err.read, thread.value]
        end
        raise Wrk::Error, failure.lines.last.to_s.strip unless status.success?

        parse(output)
      end

      # @return [Wrk::Result]
      def parse(output)
        figures = output.lines.to_h { |line| line.split(" ", 2).then { |name, number| [name.to_sym, number.to_f] } }
        messages, seconds = figures.fetch_values(:messages, :seconds)
        Wrk::Result.new(messages.to_i, seconds, messages / seconds, figures.fetch(:p50), figures.fetch(:p99), figures.fetch(:failures).to_i,
                        0, figures.fetch(:cpu), figures.fetch(:bytes))
      end

      private

      # It says no more, but does not end before it is let: its clients would leave while the server's figures are read.
      def follow(out)
        output = +""
        until output.end_with?("finished\n")
          line = out.gets || break
          output << line
          yield if block_given? && %W[connected\n finished\n].include?(line)
        end
        output
      end
    end
  end
end
