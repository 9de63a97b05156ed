# frozen_string_literal: true

require "open3"
require_relative "../../test_helper"

# What the library puts before methods of Ruby's own is called by every ractor.
class SchedulerRactorTest < Minitest::Test
  PROGRAM = <<~RUBY
    Fiber.set_scheduler(Upwell::Scheduler.new)
    ractor = Ractor.new do
      IO.pipe.each(&:close)
      Fiber.set_scheduler(nil)
      "closed"
    end
    print(ractor.respond_to?(:value) ? ractor.value : ractor.take)
  RUBY

  def test_a_ractor_closes_its_io
    output, status = Open3.capture2e(RbConfig.ruby, "-W0", "-I#{ServerProcess::ROOT}/lib", "-rupwell", "-e", PROGRAM)
    assert_equal "closed", output
    assert_predicate status, :success?
  end
end
