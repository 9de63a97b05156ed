# frozen_string_literal: true

# Measures Rack on JavaScript runtimes and writes bench/results/DATE-opal-NAME.md and .svg; see bench/README.md.

require_relative "../lib/benchmark"
require_relative "../lib/results_writer"
require_relative "overhead_ratios"
require_relative "settings"

TITLE = "Rack on JavaScript runtimes, one process on one core"
COLUMNS = { "system calls/request" => [:system_calls, "%.2f"] }.freeze

# What the figures hang on, beside the servers' commands.
def facts(settings)
  wrk = Bench::Wrk.command(url: "http://127.0.0.1:PORT/", connections: settings.connections.join("|"), seconds: settings.seconds)
  {
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, wrk on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and warmed up for " \
                "#{Bench::LoadRun::WARM_UP_SECONDS} s, in which the system calls are counted",
    "load" => "`#{wrk.join(" ")}`",
    "uwebsockets" => "is a third party's copy of uWebSockets.js, which npm itself does not have",
    "opal-up" => "its release has no command for Node's own server; the others are started by what they become (bench/peers/opal_up.sh)"
  }
end

settings = Bench::Opal::Settings.new
benchmark = Bench::Benchmark.new(settings).run
Bench::ResultsWriter.write("opal-#{settings.name}", benchmark.tables, facts: facts(settings), servers: benchmark.versions, title: TITLE,
                                                                      chart_title: TITLE, columns: COLUMNS,
                                                                      appendix: Bench::Opal::OverheadRatios.new(benchmark.tables).to_s)
