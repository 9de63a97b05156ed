# frozen_string_literal: true

# Every combination of MODES, BACKENDS and WORKERS for SECONDS each, JOBS at once: one_combination.rb in a process of its own.

$LOAD_PATH.unshift File.expand_path("../../lib", __dir__)
require "rbconfig"
require "upwell"

list = ->(name, default) { ENV.fetch(name, default).split(",") }
usable = Upwell.backends.select { |backend| backend[:works] }.map { |backend| backend[:name] } & %w[io_uring epoll poll]
modes = list.call("MODES", "inline,fibers,threads:3")
backends = list.call("BACKENDS", usable.join(","))
workers = list.call("WORKERS", "0,2")
seconds = ENV.fetch("SECONDS", "20")
seed = Integer(ENV.fetch("SEED", Random.rand(1_000_000)))
left = modes.product(backends, workers)
puts "#{left.size} combinations, #{seconds} s each, SEED=#{seed}"

failed = 0
Array.new(Integer(ENV.fetch("JOBS", "6"))) do
  Thread.new do
    while (combination = left.shift)
      command = [RbConfig.ruby, "-W0", File.join(__dir__, "one_combination.rb"), *combination, seconds, seed.to_s]
      output = IO.popen(command, err: %i[child out], &:read)
      puts output
      failed += 1 unless $?.success? # rubocop:disable Style/SpecialGlobalVars -- of this thread
    end
  end
end.each(&:join)
abort "#{failed} combinations failed" if failed.positive?
