# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"

class SchedulerGarbageCollectionTest < Minitest::Test
  include Scheduling

  def work
    reader, writer = UNIXSocket.pair
    Fiber.schedule { 10.times { |i| writer.puts("line #{i}") && sleep(0.0001) } && writer.close }
    Fiber.schedule { assert_equal(Array.new(10) { |i| "line #{i}\n" }, reader.readlines) }
    Fiber.schedule { assert_raises(Timeout::Error) { Timeout.timeout(0.005) { sleep } } }
    Fiber.schedule { assert_equal "x\n", `echo x` }
    queue = Thread::Queue.new
    Fiber.schedule { assert_equal 1, queue.pop }
    Thread.new { queue << 1 }
  end

  def test_under_stress
    skip "this is about memory that is C's: in Ruby it would only take its time" if BACKENDS == ["select"]

    on_every_backend do |scheduler|
      GC.stress = true
      work
      scheduler.run
    ensure
      GC.stress = false
    end
  end

  def test_with_compaction
    skip "compaction breaks Ruby 3.1 itself" if RUBY_VERSION < "3.2"

    on_every_backend do |scheduler|
      GC.auto_compact = true
      work
      Fiber.schedule { 5.times { GC.start && sleep(0.001) } }
      scheduler.run
    ensure
      GC.auto_compact = false
    end
  end

  def test_a_scheduler_nobody_refers_to_is_freed
    GC.start
    before = Dir.children("/proc/self/fd").size
    20.times { Thread.new { Fiber.set_scheduler(Upwell::Scheduler.new) || Fiber.schedule { sleep(0.0001) } }.join }
    GC.start
    assert_operator before, :>=, Dir.children("/proc/self/fd").size
  end
end
