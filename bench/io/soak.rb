# frozen_string_literal: true

# Fibers that are ended early wherever they wait, for as long as wanted, under the scheduler on each backend. Prints memory and descriptors as
# they go, and fails when a fiber, an operation, a timer or a descriptor stays behind, or memory grows. See ../README.md.

require "rbconfig"
require_relative "../lib/upwell_checkout"

$stdout.sync = true
installation = Bench::GemInstallation.new("upwell")
upwell = Bench::UpwellCheckout.new
seconds = ENV.fetch("SECONDS", "60")
load = ENV.fetch("LOAD", "1")
seed = ENV.fetch("SEED") { (Random.new_seed % 100_000).to_s }
failed = (ENV["BACKENDS"]&.split(",") || upwell.backends).reject do |backend|
  puts "#{backend}, seed #{seed}, #{RUBY_DESCRIPTION}"
  system(installation.environment, RbConfig.ruby, File.join(__dir__, "soak", "soak_one_backend.rb"), backend, seconds, load, seed)
end
abort "failed: #{failed.join(", ")}" if failed.any?
puts "nothing stayed behind"
