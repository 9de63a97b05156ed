# frozen_string_literal: true

# CPU time and rate of GET /up of a Rails application in production, Upwell in each mode beside Puma and Falcon: one process on one core,
# servers in turn. SERVERS, CONNECTIONS (16), ROUNDS (2) and SECONDS (10) as in bench/README.md; prints a table.

require "etc"
require "fileutils"
require_relative "lib/sample"
require_relative "lib/server"
require_relative "lib/wrk"

# The gems of bench/rails/Gemfile, in a folder of their own.
class RailsBundle
  GEMFILE = File.expand_path("rails/Gemfile", __dir__)
  GEMS = File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "upwell", "bench", "rails-#{RUBY_VERSION}")

  def environment
    { "BUNDLE_GEMFILE" => GEMFILE, "BUNDLE_PATH" => GEMS, "BUNDLE_VERSION" => "system", "RUBYOPT" => nil, "RAILS_MAX_THREADS" => "5" }
  end

  def install
    system(environment, "bundle", "install", "--quiet", exception: true)
  end
end

APP = File.expand_path("../test/apps/rails", __dir__)
WARM_UP_SECONDS = 2
SERVERS = {
  "upwell-fibers" => "upwell --mode fibers -b 127.0.0.1 -p PORT CONFIG",
  "upwell-threads" => "upwell --mode threads:5 -b 127.0.0.1 -p PORT CONFIG",
  "upwell-inline" => "upwell --mode inline -b 127.0.0.1 -p PORT CONFIG", "puma-threads" => "puma -w 0 -t 5:5 -q -b tcp://127.0.0.1:PORT CONFIG",
  "falcon" => "falcon serve -n 1 --bind http://127.0.0.1:PORT -c CONFIG"
}.freeze
ROUNDS, SECONDS, CONNECTIONS = { "ROUNDS" => 2, "SECONDS" => 10, "CONNECTIONS" => 16 }.map { |name, default| Integer(ENV.fetch(name, default)) }
CHOSEN = ENV.fetch("SERVERS", SERVERS.keys.join(",")).split(",")

# @return [Array<Float>] requests a second, and microseconds of the processor for each
def measure(bundle, command, folder)
  arguments = ->(port) { ["bundle", "exec", *command.gsub("PORT", port.to_s).gsub("CONFIG", File.join(folder, "config.ru")).split] }
  Bench::Server.open(arguments, installation: bundle) do |server|
    load = ->(seconds) { Bench::Wrk.run(url: server.url("/up"), connections: CONNECTIONS, seconds: seconds) }
    load.call(WARM_UP_SECONDS)
    before = server.usage
    sample = Bench::Sample.of(load.call(SECONDS), before, server.usage)
    raise "#{command}: #{sample}" unless sample.errors.zero?

    [sample.rate, sample.cpu_us]
  end
end

bundle = RailsBundle.new
bundle.install
Dir.mktmpdir("upwell-bench-rails") do |folder|
  FileUtils.cp_r(File.join(APP, "."), folder)
  found = Hash.new { |samples, name| samples[name] = [] }
  ROUNDS.times { CHOSEN.each { |name| found[name] << measure(bundle, SERVERS.fetch(name), folder) } }
  puts "| GET /up, #{CONNECTIONS} connections | µs of CPU a request | requests a second |", "| --- | --- | --- |"
  found.each do |name, samples|
    rates, costs = samples.transpose.map { |figures| figures.map(&:round).join(", ") }
    puts "| #{name} | #{costs} | #{rates} |"
  end
end
