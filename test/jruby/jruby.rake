# frozen_string_literal: true

require "open3"

# JRuby, which has loop, selector and scheduler in Ruby.
module OnJRuby
  TESTS = {
    "9.4" => %w[upwell/loop upwell/selector jruby/unsupported_version],
    "10.1" => %w[upwell/loop upwell/selector upwell/scheduler/time upwell/scheduler/fiber jruby/io_hooks]
  }.freeze

  # @return [Array(String, Process::Status)] what the tests say
  def self.run(version)
    tests = TESTS.fetch(version).map { |name| "require './test/#{name}_test'" }
    Open3.capture2e({ "NCPU" => nil, "JRUBY" => version }, "bin/jruby", "-Ilib", "-Itest", "-r./test/jruby/skipped_tests", "-e", tests.join(";"))
  end
end

desc "Test loop and selector on JRuby 9.4 and 10.1, and of the scheduler on 10.1 what that asks for (Java; JRUBIES=10.1: some)"
task "test:jruby" do
  runs = ENV.fetch("JRUBIES", OnJRuby::TESTS.keys.join(",")).split(",").map { |version| Thread.new { OnJRuby.run(version) } }
  outputs, statuses = runs.map(&:value).transpose # side by side: they wait more than they compute
  puts outputs
  abort "rake test:jruby: a run has failed" unless statuses.all?(&:success?)
end
