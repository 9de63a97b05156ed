# frozen_string_literal: true

require_relative "../../test_helper"
require "open3"
require "rbconfig"

# As many fibers as the kernel lets a process have; in a process of its own.
class SchedulerManyFibersTest < Minitest::Test
  LIMIT_FILE = "/proc/sys/vm/max_map_count"
  LIMIT_MAX = 70_000 # beyond, the test would take too long and too much memory
  PROGRAM = <<~RUBY
    Fiber.set_scheduler(Upwell::Scheduler.new)
    gate = Thread::Queue.new
    ended = 0
    errors = []
    start = proc { 100_000.times { Fiber.schedule { gate.pop; ended += 1 } } }
    [start, proc { Fiber.schedule(&start) }].each do |attempt|
      attempt.call
    rescue FiberError => e
      errors << e.message
    end
    waiting = Upwell.stats[:waiting]
    gate.close
    Fiber.scheduler.run
    puts errors, waiting, ended, Upwell.stats[:fibers]
  RUBY

  def test_too_many_fibers_end_in_an_error_that_names_the_limit
    skip "the scheduler in Ruby leaves it at Ruby's own error" if BACKENDS == ["select"]
    skip "the kernel tells no limit" unless File.exist?(LIMIT_FILE)
    limit = Integer(File.read(LIMIT_FILE))
    skip "the limit is too high to be reached here" if limit > LIMIT_MAX

    output, status = Open3.capture2e(RbConfig.ruby, "-I#{File.expand_path("../../../lib", __dir__)}", "-rupwell", "-e", PROGRAM)
    assert_predicate status, :success?, output
    *errors, waiting, ended, left = output.lines(chomp: true)
    assert_equal 2, errors.size, output
    errors.each { |error| assert_match(/\Acannot create another fiber \(.+\): \d{4,} fibers exist, .*vm\.max_map_count=/, error) }
    errors.each { |error| assert_includes error, "two of the #{limit} memory mappings" }
    assert_equal [waiting, "0"], [ended, left]
  end
end
