# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"
require "open3"
require "rbconfig"

class SchedulerGarbageCollectionTest < Minitest::Test
  include Scheduling

  ROOT = File.expand_path("../../..", __dir__)
  PROGRAM = File.join(ROOT, "test/support/every_hook.rb") # in a process of its own, with few objects: each collection is quick

  def test_under_stress
    skip "this is about memory that is C's: in Ruby it would only take its time" if BACKENDS == ["select"]

    BACKENDS.each { |backend| run_every_hook(backend, 1, "stress") }
  end

  def test_with_compaction
    BACKENDS.each { |backend| run_every_hook(backend, 5, "compact") }
  end

  def test_a_scheduler_nobody_refers_to_is_freed
    GC.start
    before = Dir.children("/proc/self/fd").size
    20.times { Thread.new { Fiber.set_scheduler(Upwell::Scheduler.new) || Fiber.schedule { sleep(0.0001) } }.join }
    GC.start
    assert_operator before, :>=, Dir.children("/proc/self/fd").size
  end

  private

  def run_every_hook(backend, rounds, how)
    output, status = Open3.capture2e({ "UPWELL_BACKEND" => backend, "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-I#{ROOT}/lib",
                                     "-rupwell", PROGRAM, rounds.to_s, how)
    assert_predicate status, :success?, "#{backend}: #{output}"
    called, defined = output.lines(chomp: true)
    assert_equal defined, called, backend
  end
end
