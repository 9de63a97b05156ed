# frozen_string_literal: true

# JRuby, which has loop, selector and scheduler in Ruby.
module OnJRuby
  TESTS = {
    "9.4" => %w[upwell/loop upwell/selector jruby/refusal],
    "10.1" => %w[upwell/loop upwell/selector upwell/scheduler/time upwell/scheduler/fiber jruby/reading_and_writing]
  }.freeze
end

desc "Test loop and selector on JRuby 9.4 and 10.1, and of the scheduler on 10.1 what that asks for (Java; JRUBIES=10.1: some)"
task "test:jruby" do
  ENV.fetch("JRUBIES", OnJRuby::TESTS.keys.join(",")).split(",").each do |version|
    tests = OnJRuby::TESTS.fetch(version).map { |name| "require './test/#{name}_test'" }
    sh({ "NCPU" => nil, "JRUBY" => version }, "bin/jruby", "-Ilib", "-Itest", "-r./test/jruby/lacks", "-e", tests.join(";"), verbose: false)
  end
end
