# frozen_string_literal: true

# Hostile clients against the server under ASan and UBSan, in every mode and on every backend: SECONDS in all, SEED; TLS=1: by TLS.

require_relative "hostile_clients"
require_relative "sanitized_server"

# Every mode and backend in turn.
class Hostile
  MODES = %w[fibers inline threads:3].freeze
  BACKENDS = %w[io_uring epoll poll].freeze
  CLIENTS = 3 # processes
  PROBE_EVERY = 0.2

  def initialize(seconds, seed)
    @seconds = seconds
    @seed = seed
    @failures = 0
  end

  # @return [Boolean] whether the server has survived
  def run
    targets = MODES.product(BACKENDS)
    targets.each { |mode, backend| attack(mode, backend, @seconds / targets.size) }
    puts "hostile: #{targets.size} servers, #{@failures} failed, SEED=#{@seed}"
    @failures.zero?
  end

  private

  def attack(mode, backend, seconds)
    target = SanitizedServer.new(mode, backend)
    await_clients(target, start_clients(target.port, seconds))
    target.end_well
    puts "hostile: #{mode}, #{backend}: alive"
  rescue SanitizedServer::Failure => e
    @failures += 1
    puts "hostile: #{mode}, #{backend}, SEED=#{@seed}: #{e.message}"
    report_of(target)
  ensure
    target&.kill
  end

  def start_clients(port, seconds)
    $stdout.flush
    Array.new(CLIENTS) { |index| fork { HostileClients.new(port, @seed + index).run(seconds) && exit!(true) } }
  end

  def await_clients(target, pids)
    until pids.empty?
      target.probe
      sleep(PROBE_EVERY)
      pids.reject! { |pid| Process.wait(pid, Process::WNOHANG) }
    end
  ensure
    pids.each { |pid| Process.kill("KILL", pid) && Process.wait(pid) }
  end

  # Why a server does not answer is most often what a sanitizer has said.
  def report_of(target)
    target&.complain
  rescue SanitizedServer::Failure => e
    puts e.message
  end
end

exit Hostile.new(Float(ENV.fetch("SECONDS", "54")), Integer(ENV.fetch("SEED", rand(1_000_000)))).run
