# frozen_string_literal: true

# Measures Upwell beside its peers and writes bench/results/DATE-NAME.md and .svg; see bench/README.md.

require "time"
require_relative "lib/benchmark"
require_relative "lib/chart"
require_relative "lib/load"
require_relative "lib/machine"
require_relative "lib/report"
require_relative "lib/settings"

# What the figures hang on, beside the servers' commands.
def facts(settings)
  sample_command = Bench::Wrk.command(url: "http://127.0.0.1:PORT/", connections: settings.connections.join("|"), seconds: settings.seconds)
  {
    "date" => Time.now.strftime("%F"), **Bench::Machine.description,
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, wrk on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and warmed up for " \
                "#{Bench::Load::WARM_UP_SECONDS} s",
    "load" => "`#{sample_command.join(" ")}`"
  }
end

settings = Bench::Settings.new
benchmark = Bench::Benchmark.new(settings).run
path = File.join(__dir__, "results", "#{Time.now.strftime("%F")}-#{settings.name}")
report = Bench::Report.new(benchmark.tables, facts: facts(settings), servers: benchmark.versions, chart: "#{File.basename(path)}.svg")
Dir.mkdir(File.dirname(path)) unless Dir.exist?(File.dirname(path))
File.write("#{path}.md", report.to_s)
File.write("#{path}.svg", Bench::Chart.new(benchmark.tables, title: "Upwell and its peers, one process on one core").to_s)
puts report, "written to #{path}.md and .svg"
