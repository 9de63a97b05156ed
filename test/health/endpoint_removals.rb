# frozen_string_literal: true

# Servers that are stopped as Kubernetes stops them, each in another mode, single and with workers, until enough requests were answered.

require "minitest" # what ServerProcess tells of a failure
require "upwell"
require "upwell/server"
require_relative "endpoint_removal"

REQUESTS = Integer(ENV.fetch("REQUESTS", "50000"))
CLIENTS = Integer(ENV.fetch("CLIENTS", "16"))
SEED = Integer(ENV.fetch("SEED", rand(1 << 30).to_s))
CASES = %w[0 2].product(%w[fibers threads:5 inline])

answered = failed = 0
puts "#{REQUESTS} requests, #{CLIENTS} clients, SEED=#{SEED}"

CASES.each_with_index do |(workers, mode), number|
  round = Health::EndpointRemoval.new(clients: CLIENTS, requests: REQUESTS / CASES.size, arguments: ["-w", workers, "--mode", mode],
                                      seed: SEED + number).run
  answered += round.account.answered
  failed += round.failures.size
  puts "-w #{workers} --mode #{mode}: #{round.account.answered} requests answered, #{round.failures.size} failed"
  puts(round.failures.tally.first(10).map { |what, times| "  #{times} times #{what}" })
end

puts "#{answered} requests answered, #{failed} failed"
exit(failed.zero? ? 0 : 1)
