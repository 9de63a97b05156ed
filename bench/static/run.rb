# frozen_string_literal: true

# Measures servers of static files and writes bench/results/DATE-static-NAME.md and .svg; see bench/README.md.

require_relative "../lib/benchmark"
require_relative "../lib/results_writer"
require_relative "settings"

TITLE = "Static files, one process on one core"
COLUMNS = { "GB/s" => [:gigabytes, "%.2f"], "system calls/request" => [:system_calls, "%.2f"],
            "page faults from its start" => [:faults, "%d"] }.freeze

# What the figures hang on, beside the servers' commands.
def facts(settings)
  wrk = Bench::Wrk.command(url: "http://127.0.0.1:PORT/SIZE.html", connections: settings.connections.join("|"), seconds: settings.seconds)
  {
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, wrk or ab on core #{Bench::Wrk::CORE}, by taskset",
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and, but for ab, warmed up for " \
                "#{Bench::LoadRun::WARM_UP_SECONDS} s, in which the system calls are counted",
    "load" => "`#{wrk.join(" ")}`"
  }
end

settings = Bench::Static::Settings.new
Bench::Static::ServedFiles.make
benchmark = Bench::Benchmark.new(settings).run
Bench::ResultsWriter.write("static-#{settings.name}", benchmark.tables, facts: facts(settings), servers: benchmark.versions, title: TITLE,
                                                                        chart_title: TITLE, columns: COLUMNS)
