# frozen_string_literal: true

# Each of BACKENDS (pure is the one without the extension) for SECONDS, JOBS at once: one_backend.rb in a process of its own. SEED, LOAD: the
# share of a core that each may take; LEAVE_OUT: kinds of activities and ways to disturb them, see activity_kinds.rb.

$LOAD_PATH.unshift File.expand_path("../../lib", __dir__)
require "rbconfig"
require "upwell"
require_relative "tortured_process"

$stdout.sync = true
sanitized = ARGV == ["sanitized"] # what is without the extension has nothing to sanitize
usable = Upwell::Scheduler.backends & %w[io_uring epoll poll]
backends = ENV.fetch("BACKENDS", [*usable, *("pure" unless sanitized)].join(",")).split(",")
seconds = ENV.fetch("SECONDS", "60")
seed = ENV.fetch("SEED") { rand(1_000_000).to_s }
more = [ENV.fetch("LOAD", "1"), ENV.fetch("LEAVE_OUT", "")]
puts "torture: #{backends.join(", ")}, #{seconds} s each, SEED=#{seed}"

left = backends.dup
failed = []
Array.new(Integer(ENV.fetch("JOBS", backends.size.to_s))) do
  Thread.new do
    while (backend = left.shift)
      failed << backend unless Torture::TorturedProcess.new(backend, seconds, seed, *more, sanitized: sanitized).survives?
    end
  end
end.each(&:join)
abort "torture: #{failed.join(", ")} failed" if failed.any?
puts "torture: #{backends.size} fine"
