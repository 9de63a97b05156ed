# frozen_string_literal: true

require_relative "../../test_helper"
require "open3"
require "rbconfig"

# The examples of gem fiber_scheduler_spec pass, all of them, on every backend.
class SchedulerGemSpecsTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  EXAMPLES = 40
  ATTEMPTS = 20 # some examples expect to wait no more than 0.5 ms, which a busy machine does not grant every time

  SLOWNESS_MAX = 5 # of the later attempts: the gem gives each example a second

  BACKENDS.each do |backend|
    define_method("test_#{backend}") do
      Dir.mktmpdir do |folder|
        output, passed = run_specs(backend, folder, 1)
        assert_includes output, "#{EXAMPLES} examples, "
        (2..ATTEMPTS).each { |attempt| output, passed = run_specs(backend, folder, attempt, "--only-failures") unless passed }
        assert passed, output
      end
    end
  end

  private

  def run_specs(backend, folder, attempt, *options)
    File.write("#{folder}/helper.rb", "RSpec.configure { |c| c.example_status_persistence_file_path = #{"#{folder}/status".dump} }")
    environment = { "UPWELL_BACKEND" => backend, "SLOWNESS" => [attempt, SLOWNESS_MAX].min.to_s }
    output, status = Open3.capture2e(environment, RbConfig.ruby, "-I#{ROOT}/lib", Gem.bin_path("rspec-core", "rspec"),
                                     "--require", "#{folder}/helper", *options, "test/upwell/scheduler/fiber_scheduler_spec.rb", chdir: ROOT)
    [output, status.success?]
  end
end
