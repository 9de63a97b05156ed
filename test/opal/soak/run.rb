# frozen_string_literal: true

# app.ru under steady load on each of the JavaScript runtimes at once, for MINUTES. Fails when an answer is wrong or missing, when memory grows
# from the second third of the time to the last, and when descriptors stay behind.

$LOAD_PATH.unshift File.expand_path("../../../lib", __dir__)
require "tempfile"
require "upwell"
require_relative "../../../bench/lib/growth_detector"
require_relative "../../../bench/lib/process_usage"
require_relative "../../support/opal_process"
require_relative "random_client"

# One server, and its clients.
class OpalSoak
  APP = File.expand_path("app.ru", __dir__)
  SAMPLES = 120
  MEBIBYTE = 1_048_576.0
  MEMORY_ALLOWANCE = 8 * MEBIBYTE # beside Bench::Growth's own: as heaps breathe
  DESCRIPTORS_MORE = 3 # of the runtime's own
  RELEASE_MAX = 30 # seconds, for the server to notice that all have left
  TOLD_MAX = 5

  def initialize(command, seconds, clients, rate)
    @command = command
    @seconds = seconds
    @interval = clients / rate
    @readings = []
    @clients = clients
  end

  # @return [Boolean] whether all went well
  def run
    file = Tempfile.new("upwell-soak").tap { |made| made.binmode && made.write(RandomClient::FILE) && made.flush }
    wrong = OpalProcess.open(@command, app: APP, environment: { "FILE" => file.path }) { |server| soak(server.read_on) }
    puts "#{@command}: #{wrong.empty? ? "fine" : "FAILED"}: #{@summary}", wrong
    wrong.empty?
  end

  private

  def soak(server)
    before = usage(server).descriptors
    visits = Array.new(@clients) { |number| RandomClient.new(server.port, number, @interval) }
    @ends = now + @seconds
    threads = visits.map { |one| Thread.new { one.run { now > @ends } } }
    sample(server) while now < @ends
    threads.each(&:join)
    left = left_behind(server, before)
    status = server.stop
    summarize(visits, left)
    [*visits.flat_map(&:failures).first(TOLD_MAX), *growth, *("#{left} descriptors left behind" if left > DESCRIPTORS_MORE),
     *("ended with #{status}" unless status.success?)]
  end

  def sample(server)
    sleep(@seconds / SAMPLES)
    server.lines.shift(server.lines.size)
    @readings << usage(server)
  end

  def usage(server) = Bench::ProcessUsage.of_tree(server.pid)

  def left_behind(server, before)
    deadline = now + RELEASE_MAX
    sleep 0.1 until usage(server).descriptors <= before || now > deadline
    [usage(server).descriptors - before, 0].max
  end

  def growth
    growth = Bench::GrowthDetector.new(@readings.map(&:resident), allowance: MEMORY_ALLOWANCE)
    "memory grew: #{growth} bytes" if growth.found?
  end

  def summarize(visits, left)
    resident = [0, @readings.size / 3, @readings.size * 2 / 3, -1].map { |index| (@readings[index].resident / MEBIBYTE).round }
    count = visits.sum(&:count)
    @summary = "#{count} requests, #{(count / @seconds).round}/s, #{visits.sum { |one| one.failures.size }} failed; " \
               "resident MiB #{resident.join(", ")} (at the start, a third, two, the end); " \
               "descriptors #{@readings.map(&:descriptors).max} at most, #{left} left behind"
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

$stdout.sync = true
seconds = Float(ENV.fetch("MINUTES", "10")) * 60
clients = Integer(ENV.fetch("CLIENTS", "16"))
rate = Float(ENV.fetch("RATE", "500"))
commands = ENV.fetch("RUNTIMES", OpalProcess::RUNTIMES.keys.join(",")).split(",")
puts "#{commands.join(", ")}: #{seconds} s, #{clients} clients and at most #{rate} requests/s each"
children = commands.map { |command| fork { exit!(OpalSoak.new(command, seconds, clients, rate).run) } }
abort "failed" unless children.map { |pid| Process.wait2(pid).last.success? }.all?
