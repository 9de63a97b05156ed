# frozen_string_literal: true

# Measures servers over TLS 1.3 and writes bench/results/DATE-tls-NAME.md and .svg; see bench/README.md.

require_relative "../lib/benchmark"
require_relative "../lib/results_writer"
require_relative "settings"

TITLE = "TLS 1.3, one process on one core"
COLUMNS = { "GB/s" => [:gigabytes, "%.2f"], "system calls/request" => [:system_calls, "%.2f"] }.freeze

# What the figures hang on, beside the servers' commands.
def facts(settings)
  options = { url: "https://127.0.0.1:PORT/", connections: settings.connections.join("|"), seconds: settings.seconds }
  {
    "OpenSSL" => OpenSSL::OPENSSL_LIBRARY_VERSION,
    "cores" => "server (all its processes) on core #{Bench::Server::CORE}, load generator on core #{Bench::Wrk::CORE}, by taskset",
    "certificates" => "self-signed, the same for all: RSA 2048, but for the handshakes by ECDSA P-256",
    "rounds" => "#{settings.rounds} of #{settings.seconds} s, servers in turn, each started anew and warmed up for " \
                "#{Bench::LoadRun::WARM_UP_SECONDS} s, in which the system calls are counted",
    "load" => "`#{Bench::Wrk.command(**options).join(" ")}`",
    "load of handshakes" => "`#{Bench::Tls::Handshakes.new("full|resumed").command(**options, url: "https://127.0.0.1:0/").join(" ")}`, " \
                            "which is bench/tls/handshakes.c; a handshake is a connection, from connect to the end"
  }
end

settings = Bench::Tls::Settings.new
Bench::Static::ServedFiles.make
[Bench::Tls::RSA, Bench::Tls::ECDSA].each(&:make)
benchmark = Bench::Benchmark.new(settings).run
Bench::ResultsWriter.write("tls-#{settings.name}", benchmark.tables, facts: facts(settings), servers: benchmark.versions, title: TITLE,
                                                                     chart_title: TITLE, columns: COLUMNS)
