# frozen_string_literal: true

require "fiber_scheduler_spec"
require "upwell"

# The gem's examples for schedulers, run by gem_specs_test.rb. Some look up a host name. The stub replaces the network alone.
# SLOWNESS multiplies each waiting time and each time limit, for a busy machine.
RSpec.describe Upwell::Scheduler do
  host = "example.com"
  slowness = Integer(ENV.fetch("SLOWNESS", 1))

  # Ruby's caches are empty at the first call. That alone took 0.4 of the 0.5 ms that "sleep 0" may take.
  before(:context) do
    Thread.new do
      Fiber.set_scheduler(described_class.new)
      Fiber.schedule { sleep 0 }
    end.join
  end

  before do |example|
    define_singleton_method(:duration) { super() / slowness } if example.description == "runs the operation in no time"
    %i[interval interval_short sleep_duration timeout].each do |time|
      define_singleton_method(time) { super() * slowness } if respond_to?(time)
    end
    allow(Addrinfo).to receive(:getaddrinfo).and_call_original
    allow(Addrinfo).to receive(:getaddrinfo).with(host, nil, nil, :STREAM).and_return([Addrinfo.tcp("192.0.2.1", 0)])
  end

  include_examples FiberSchedulerSpec
end
