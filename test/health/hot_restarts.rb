# frozen_string_literal: true

# Servers that SIGUSR2 restarts under load: each mode, single, with workers and with a preloaded application, on inherited sockets and on their
# own, on the backends in turn, until enough requests were answered.

require "minitest" # what ServerProcess tells of a failure
require "upwell"
require "upwell/server"
require_relative "hot_restart_load"

REQUESTS = Integer(ENV.fetch("REQUESTS", "50000"))
CLIENTS = Integer(ENV.fetch("CLIENTS", "16"))
RESTARTS = Integer(ENV.fetch("RESTARTS", "2"))
SEED = Integer(ENV.fetch("SEED", rand(1 << 30).to_s))
BACKENDS = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
KINDS = [%w[-w 0], %w[-w 2], %w[-w 2 --preload]].freeze
CASES = [true, false].product(KINDS, %w[fibers threads:5 inline]).zip(BACKENDS.cycle).map { |parts, backend| [*parts, backend] }

$stdout.sync = true
answered = failed = restarts = 0
puts "#{REQUESTS} requests, #{CLIENTS} clients, SEED=#{SEED}"

CASES.each_with_index do |(activated, kind, mode, backend), number|
  arguments = [*kind, "--mode", mode, "--backend", backend]
  round = Health::HotRestartLoad.new(clients: CLIENTS, requests: REQUESTS / CASES.size, restarts: RESTARTS, activated: activated,
                                     arguments: arguments, seed: SEED + number).run
  answered += round.account.answered
  restarts += round.restarts
  failures = round.failures
  failed += failures.size
  puts "#{arguments.join(" ")}#{" (inherited)" if activated}: #{round.account.answered} requests answered, #{failures.size} failed"
  puts(failures.tally.first(10).map { |what, times| "  #{times} times #{what}" })
end

puts "#{answered} requests answered, #{failed} failed, #{restarts} restarts"
exit(failed.zero? ? 0 : 1)
