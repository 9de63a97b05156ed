# frozen_string_literal: true

# Each ordered pair of signals, to a server under load: single and with workers. Nothing is lost.

require "minitest" # what ServerProcess tells of a failure
require "upwell"
require "upwell/server"
require_relative "signal_pair"

BACKENDS = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] }
ROUNDS = Integer(ENV.fetch("ROUNDS", "100"))
CLIENTS = Integer(ENV.fetch("CLIENTS", "200"))
SEED = Integer(ENV.fetch("SEED", rand(1 << 30).to_s))
WORKERS = ENV.fetch("WORKERS", "0,2").split(",")
MODES = ENV.fetch("MODES", "fibers,threads:5,inline").split(",")

random = Random.new(SEED)
targets = Signals::SignalPair::TARGETS.product(Signals::SignalPair::TARGETS)
pairs = Signals::SignalPair::NAMES.product(Signals::SignalPair::NAMES, Signals::SignalPair::PAUSES).shuffle(random: random)
total = Signals::Account.empty
failed = 0
puts "#{ROUNDS} rounds, #{CLIENTS} clients, SEED=#{SEED}"

ROUNDS.times do |number|
  first, second, pause = pairs[number % pairs.size]
  arguments = ["-w", WORKERS[(number + (number / pairs.size)) % WORKERS.size], "--mode", MODES.sample(random: random), "--backend",
               BACKENDS.sample(random: random)]
  round = Signals::SignalPair.new([first, second], pause, targets.sample(random: random),
                                  clients: CLIENTS, arguments: arguments, seed: SEED + number)
  round.run
  total.add(round.account)
  next if round.failures.empty?

  failed += 1
  puts "round #{number}: #{round.name}", round.failures.tally.first(10).map { |what, times| "  #{times} times #{what}" }
end

puts "#{total.answered} requests answered, #{total.lost.size} lost, #{total.raced.size} raced; #{failed} of #{ROUNDS} rounds failed"
exit(failed.zero? ? 0 : 1)
