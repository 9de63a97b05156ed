# frozen_string_literal: true

require "fiber_scheduler_spec"
require "upwell"

# The gem's examples for schedulers, run by gem_specs_test.rb. They look up the name of a host, which must not depend on a network: here
# the system's resolver knows it, and all between Ruby and that resolver is real. With SLOWNESS they wait so many times as long, and with that
# grows what a busy machine may add.
RSpec.describe Upwell::Scheduler do
  host = "example.com"
  slowness = Integer(ENV.fetch("SLOWNESS", 1))
  before do
    %i[interval interval_short sleep_duration timeout].each do |time|
      define_singleton_method(time) { super() * slowness } if respond_to?(time)
    end
    allow(Addrinfo).to receive(:getaddrinfo).and_call_original
    allow(Addrinfo).to receive(:getaddrinfo).with(host, nil, nil, :STREAM).and_return([Addrinfo.tcp("192.0.2.1", 0)])
  end

  include_examples FiberSchedulerSpec
end
