# frozen_string_literal: true

# Measures the scheduler and the loop beside their peers and writes bench/results/DATE-io-PART-NAME.md and .svg; see bench/README.md.

require_relative "../lib/benchmark"
require_relative "../lib/results_writer"
require_relative "candidates"
require_relative "workloads"

SECONDS = 1 # of each measurement, unless told otherwise: there are many

TITLES = {
  scheduler: "Fiber schedulers",
  loop: "HTTP on a callback-less reactor",
  workers: "HTTP on a callback-less reactor with worker threads",
  walkthrough: "From a blocking server to a fiber scheduler"
}.freeze

# What the figures hang on, beside the candidates' commands.
def facts(settings)
  {
    "cores" => "what is measured on core #{Bench::Server::CORE}, wrk and the server of the fan-out on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, candidates in turn, each in a new process and warmed up"
  }
end

def write(group, tables, settings, versions)
  title = TITLES.fetch(group)
  servers = versions.select { |candidate, _| candidate.group == group }
  Bench::ResultsWriter.write("io-#{group}-#{settings.name}", tables, facts: facts(settings), servers: servers, title: title,
                                                                     chart_title: "#{title}, one process on one core")
end

settings = Bench::Settings.new(workloads: Bench::Io::WORKLOADS, candidates: Bench::Io::CANDIDATES, seconds: SECONDS)
benchmark = Bench::Benchmark.new(settings).run
benchmark.tables.group_by { |table| table.workload.group }.each { |group, tables| write(group, tables, settings, benchmark.versions) }
