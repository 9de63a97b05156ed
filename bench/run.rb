# frozen_string_literal: true

# Measures Upwell beside its peers and writes bench/results/DATE-NAME.md and .svg; see bench/README.md.

require_relative "lib/benchmark"
require_relative "lib/load_run"
require_relative "lib/results_writer"
require_relative "lib/settings"

# What the figures hang on, beside the servers' commands.
def facts(settings)
  sample_command = Bench::Wrk.command(url: "http://127.0.0.1:PORT/", connections: settings.connections.join("|"), seconds: settings.seconds)
  {
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, wrk on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and warmed up for " \
                "#{Bench::LoadRun::WARM_UP_SECONDS} s",
    "load" => "`#{sample_command.join(" ")}`"
  }
end

settings = Bench::Settings.new
benchmark = Bench::Benchmark.new(settings).run
Bench::ResultsWriter.write(settings.name, benchmark.tables, facts: facts(settings), servers: benchmark.versions,
                                                            chart_title: "Upwell and its peers, one process on one core")
