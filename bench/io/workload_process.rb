# frozen_string_literal: true

require "json"
require "tmpdir"
require_relative "../lib/log_error_line"
require_relative "../lib/server"

module Bench
  module Io
    # measure_workload.rb in a process of its own, on the servers' core.
    module WorkloadProcess
      # @!attribute rate [Float] operations a second
      # @!attribute user_us [Float] CPU microseconds an operation
      # @!attribute system_us [Float] CPU microseconds an operation
      # @!attribute peak [Integer] bytes in memory at most
      Sample = Struct.new(:rate, :user_us, :system_us, :peak) do
        def cpu_us
          user_us + system_us
        end

        # @return [Float] of its core, 0 to 1: less than 1 when it waited, or when something else had the core
        def core_share
          rate * cpu_us / 1_000_000
        end
      end

      GRACE_SECONDS = 40 # for the start, the warm-up, and a last run that began in time: 10,000 threads that sleep take 20

      class << self
        # @return [Sample]
        # @raise [Server::Error] when it fails or does not end
        def run(arguments, installation, seconds)
          Dir.mktmpdir("upwell-bench") do |folder|
            output, log = %w[output log].map { |name| File.join(folder, name) }
            pid = Process.spawn({ **installation.environment, **Server::ENVIRONMENT }, "taskset", "-c", Server::CORE.to_s, *arguments,
                                in: File::NULL, out: output, err: log, pgroup: true)
            await(pid, seconds + GRACE_SECONDS) { LogErrorLine.of(log) }
            sample(figures(output))
          end
        end

        private

        # One line of those printed: some libraries print lines of their own.
        def figures(output)
          line = File.readlines(output).reverse_each.find { |text| text.start_with?("{") }
          JSON.parse(line.to_s, symbolize_names: true)
        rescue JSON::ParserError
          raise Server::Error, "ends without figures"
        end

        # Whatever happens here, to the end of this program by a signal, it leaves no process behind.
        def await(pid, seconds_max)
          status = Timeout.timeout(seconds_max) { Process.wait2(pid).last }
          raise Server::Error, "fails: #{yield}" unless status.success?
        rescue Timeout::Error
          raise Server::Error, "does not end in #{seconds_max.round(1)} s"
        ensure
          kill(pid) unless status
        end

        def kill(pid)
          Process.kill("KILL", -pid)
          Process.wait(pid)
        end

        def sample(figures)
          microseconds = 1_000_000.0 / figures.fetch(:operations)
          Sample.new(figures.fetch(:operations) / figures.fetch(:seconds), figures.fetch(:user) * microseconds,
                     figures.fetch(:system) * microseconds, figures.fetch(:peak))
        end
      end
    end
  end
end
