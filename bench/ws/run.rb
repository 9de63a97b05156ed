# frozen_string_literal: true

# Measures servers of WebSockets and server-sent events and writes bench/results/DATE-ws-NAME.md and .svg; see bench/README.md.

require_relative "../lib/benchmark"
require_relative "../lib/results_writer"
require_relative "settings"

TITLE = "WebSockets and server-sent events, one process on one core"
COLUMNS = { "generator's CPU µs" => [:load_us, "%.1f"], "system calls" => [:system_calls, "%.2f"],
            "bytes/silent client" => [:client_bytes, "%.0f"] }.freeze

# What the figures hang on, beside the servers' commands.
def facts(settings)
  {
    "load generator" => "bench/ws/load_generator, on the core's loop",
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, load generator on core #{Bench::Wrk::CORE}, by taskset",
    "environment" => Bench::Server::ENVIRONMENT.map { |name, value| "#{name}=#{value}" }.join(" "),
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and warmed up for " \
                "#{Bench::LoadRun::WARM_UP_SECONDS} s, in which the system calls are counted",
    "CPU of the server" => "from when all clients are connected to when the last message has come; of idle clients, while they connect",
    **settings.workloads.to_h { |workload| ["load of #{workload.name}", "`#{command(workload, settings)}`"] },
    "uwebsockets" => "is a third party's copy of uWebSockets.js, which npm itself does not have",
    "memory" => "Pss of all the server's processes with idle clients, less that before they came"
  }
end

def command(workload, settings)
  connections = (workload.connections || settings.connections).join("|")
  command = workload.generator.command(url: "http://127.0.0.1:0/", connections: connections, seconds: settings.seconds)
  command.join(" ").sub("#{Bench::ROOT}/", "")
end

settings = Bench::Ws::Settings.new
Bench::Ws::LoadGeneratorProcess.make
benchmark = Bench::Benchmark.new(settings).run
Bench::ResultsWriter.write("ws-#{settings.name}", benchmark.tables, facts: facts(settings), servers: benchmark.versions, title: TITLE,
                                                                    chart_title: TITLE, columns: COLUMNS)
