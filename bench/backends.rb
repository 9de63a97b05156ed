# frozen_string_literal: true

# Hello world on each backend, kqueue over the stand-in for it, and without the extension: see README.md.

require_relative "lib/descriptor_limit"
require_relative "lib/gem_installation"
require_relative "lib/machine"
require_relative "lib/sample"
require_relative "lib/server"
require_relative "lib/statistics"
require_relative "lib/wrk"

module Bench
  # The Rack server, and an HTTP server of a few lines on Upwell::Loop, which is what there is without the extension.
  class Backends
    NAMES = %w[io_uring epoll kqueue poll].freeze
    PURE = "select, in Ruby"
    APP = File.join(__dir__, "apps", "hello.ru")
    EXAMPLE = File.join(ROOT, "examples", "loop_http_server", "single_thread.rb")
    SERVERS = {
      "`upwell`" => ->(backend) { ->(port) { ["upwell", "-b", "127.0.0.1", "-p", port.to_s, "--backend", backend, "config.ru"] } },
      "loop example" => lambda do |backend|
        choice = backend == PURE ? "UPWELL_PURE=1" : "UPWELL_BACKEND=#{backend}"
        ->(port) { ["env", choice, RbConfig.ruby, EXAMPLE, port.to_s] }
      end
    }.freeze
    COLUMNS = ["CPU µs/request", "requests/s", "p99 ms", "errors"].freeze

    def initialize(connections:, rounds:, seconds:)
      @connections = connections
      @rounds = rounds
      @seconds = seconds
      build = { "UPWELL_BACKENDS" => NAMES.join(","), "PKG_CONFIG_PATH" => File.join(ROOT, "build", "kqueue") }
      @installation = GemInstallation.new("upwell", companions: %w[rack], build: build, folder: "upwell-backends").tap(&:install)
    end

    # @return [String] a Markdown table
    def table
      rows = cases.map { |names| [*names, *figures(names)] }
      [["server", "backend", "connections", *COLUMNS], ["---"] * (COLUMNS.size + 3), *rows].map { |row| "| #{row.join(" | ")} |\n" }.join
    end

    private

    def cases
      SERVERS.keys.product([*NAMES, PURE], @connections).reject { |server, backend, _| server == "`upwell`" && backend == PURE }
    end

    def figures(names)
      samples = Array.new(@rounds) { sample(*names) }
      cpu, rate, p99 = { cpu_us: "%.1f", rate: "%d", p99: "%.1f" }.map { |quantity, form| spread(samples.map(&quantity), form) }
      warn "#{names.join(", ")}: #{cpu} µs"
      [cpu, rate, p99, samples.sum(&:errors)]
    end

    # The least, the median and the most.
    def spread(values, form)
      [values.min, Statistics.median(values), values.max].map { |value| format(form, value) }.join(" / ")
    end

    def sample(server, backend, connections)
      Server.open(SERVERS.fetch(server).call(backend), installation: @installation, app: APP) do |process|
        load = { url: process.url, connections: connections }
        Wrk.run(**load, seconds: 1)
        before = process.usage
        Sample.of(Wrk.run(**load, seconds: @seconds), before, process.usage)
      end
    end
  end
end

connections = ENV.fetch("CONNECTIONS", "64,1000").split(",").map { |number| Integer(number, 10) }
Bench::DescriptorLimit.allow(connections.max, 100)
system("make", "--silent", "-C", File.join(Bench::ROOT, "test", "kqueue"), exception: true)
rounds, seconds = { "ROUNDS" => "3", "SECONDS" => "2" }.map { |name, default| Integer(ENV.fetch(name, default), 10) }
backends = Bench::Backends.new(connections: connections, rounds: rounds, seconds: seconds)
path = File.join(__dir__, "results", "#{Time.now.strftime("%F")}-backends.md")
facts = { **Bench::Machine.description, "figures" => "least / median / most of #{rounds} rounds of #{seconds} s" }
facts = facts.map { |name, value| "- #{name}: #{value}\n" }.join
File.write(path, "# Hello world on each backend\n\n#{facts}\n#{backends.table}")
puts File.read(path), "written to #{path}"
