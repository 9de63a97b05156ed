# frozen_string_literal: true

# Servers that are stopped as Kubernetes stops them: each mode, single and with workers, on the backends in turn, until enough requests were
# answered.

require "minitest" # what ServerProcess tells of a failure
require "upwell"
require "upwell/server"
require_relative "endpoint_removal"

REQUESTS = Integer(ENV.fetch("REQUESTS", "50000"))
CLIENTS = Integer(ENV.fetch("CLIENTS", "16"))
SEED = Integer(ENV.fetch("SEED", rand(1 << 30).to_s))
BACKENDS = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
CASES = %w[0 2].product(%w[fibers threads:5 inline]).zip(BACKENDS.cycle).map(&:flatten)

answered = failed = 0
puts "#{REQUESTS} requests, #{CLIENTS} clients, SEED=#{SEED}"

CASES.each_with_index do |(workers, mode, backend), number|
  arguments = ["-w", workers, "--mode", mode, "--backend", backend]
  round = Health::EndpointRemoval.new(clients: CLIENTS, requests: REQUESTS / CASES.size, arguments: arguments, seed: SEED + number).run
  answered += round.account.answered
  failed += round.failures.size
  puts "#{arguments.join(" ")}: #{round.account.answered} requests answered, #{round.failures.size} failed"
  puts(round.failures.tally.first(10).map { |what, times| "  #{times} times #{what}" })
end

puts "#{answered} requests answered, #{failed} failed"
exit(failed.zero? ? 0 : 1)
