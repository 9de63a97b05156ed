# frozen_string_literal: true

# Measures the scheduler and the loop beside their peers and writes bench/results/DATE-io-PART-NAME.md and .svg; see bench/README.md.

require "time"
require_relative "../lib/benchmark"
require_relative "../lib/chart"
require_relative "../lib/machine"
require_relative "../lib/report"
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
    "date" => Time.now.strftime("%F"), **Bench::Machine.description,
    "cores" => "what is measured on core #{Bench::Server::CORE}, wrk and the server of the fan-out on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, candidates in turn, each in a new process and warmed up"
  }
end

RESULTS = File.expand_path("../results", __dir__)

def write(group, tables, settings, versions)
  title = TITLES.fetch(group)
  path = File.join(RESULTS, "#{Time.now.strftime("%F")}-io-#{group}-#{settings.name}")
  servers = versions.select { |candidate, _| candidate.group == group }
  report = Bench::Report.new(tables, facts: facts(settings), servers: servers, chart: "#{File.basename(path)}.svg", title: title)
  File.write("#{path}.md", report.to_s)
  File.write("#{path}.svg", Bench::Chart.new(tables, title: "#{title}, one process on one core").to_s)
  puts report, "written to #{path}.md and .svg"
end

Dir.mkdir(RESULTS) unless Dir.exist?(RESULTS)
settings = Bench::Settings.new(workloads: Bench::Io::WORKLOADS, candidates: Bench::Io::CANDIDATES, seconds: SECONDS)
benchmark = Bench::Benchmark.new(settings).run
benchmark.tables.group_by { |table| table.workload.group }.each { |group, tables| write(group, tables, settings, benchmark.versions) }
