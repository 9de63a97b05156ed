# frozen_string_literal: true

require_relative "gem_installation"
require_relative "server"
require_relative "settings"
require_relative "workload_samples"
require_relative "wrk"

module Bench
  # Runs every candidate at every workload. The candidates take turns (A B C, A B C, ...), each time started anew, so that what else the
  # machine does meets all of them alike. One that fails is left out of the table's further rounds, and the table tells why.
  class Benchmark
    # @return [Array<WorkloadSamples>]
    attr_reader :tables

    # @param settings [Settings]
    # @param log [IO]
    def initialize(settings, log: $stderr)
      @settings = settings
      @log = log
      @tables = settings.tables
      @candidates = settings.candidates.select { |candidate| @tables.any? { |table| candidate.for?(table.workload) } }
    end

    # @return [self]
    def run
      @missing = install
      @tables.each { |table| fill(table) }
      self
    end

    # @return [Hash{Candidate => String}] the gems it runs on, or why they are missing
    def versions
      @candidates.to_h { |candidate| [candidate, @missing[candidate.installation] || candidate.installation.versions] }
    end

    private

    # @return [Hash{GemInstallation => String}] why a gem is missing
    def install
      @candidates.map(&:installation).uniq.each_with_object({}) do |installation, missing|
        @log.puts "installing #{installation.name}"
        installation.install
      rescue GemInstallation::Error => e
        missing[installation] = e.message
      end
    end

    def fill(table)
      candidates = @candidates.select { |candidate| candidate.for?(table.workload) }
      candidates.each { |candidate| table.fail(candidate, @missing[candidate.installation]) if @missing[candidate.installation] }
      @settings.rounds.times do
        (candidates - table.failures.keys).each { |candidate| take_turn(table, candidate) }
      end
    end

    def take_turn(table, candidate)
      sample = table.workload.sample(candidate, table.connections, @settings.seconds)
      table.add(candidate, sample)
      say(table, candidate, format("%.0f %s/s, %.1f µs", sample.rate, table.workload.unit, sample.cpu_us))
    rescue Server::Error, Wrk::Error => e
      table.fail(candidate, e.message)
      say(table, candidate, e.message)
    end

    def say(table, candidate, text)
      @log.puts "#{table.title}, #{candidate.name}: #{text}"
    end
  end
end
