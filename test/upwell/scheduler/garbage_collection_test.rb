# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"
require "open3"
require "rbconfig"

class SchedulerGarbageCollectionTest < Minitest::Test
  include UnderEachScheduler

  ROOT = File.expand_path("../../..", __dir__)
  PROGRAM = File.join(ROOT, "test/support/every_scheduler_hook.rb") # in a process of its own, with few objects: each collection is quick

  def test_under_stress
    skip "looks for memory that C forgets, of which there is none" if BACKENDS == ["select"]

    BACKENDS.each { |backend| run_every_hook(backend, 1, "stress") }
  end

  def test_with_compaction
    skip_on_windows "the program is about UNIX sockets, which Wine lacks"
    BACKENDS.each { |backend| run_every_hook(backend, 5, "compact") }
  end

  def test_a_scheduler_nobody_refers_to_is_freed
    skip_on_windows "it does not list descriptors"
    GC.start
    before = Dir.children("/proc/self/fd").size
    20.times { Thread.new { Fiber.set_scheduler(Upwell::Scheduler.new) || Fiber.schedule { sleep(0.0001) } }.join }
    GC.start
    assert_operator before, :>=, Dir.children("/proc/self/fd").size
  end

  # And no thread either: its own stays.
  def test_one_that_was_never_closed_is_freed
    skip_on_windows "it does not list descriptors"
    BACKENDS.each do |backend|
      before = Dir.children("/proc/self/fd").size
      20.times { Upwell::Scheduler.new(backend: backend).run }
      await_collected { Dir.children("/proc/self/fd").size - before < 10 } # a conservative collector may find some
    end
  end

  # Is closed by nobody on Ruby 3.1, when its thread is killed.
  class SlowToEnd < Upwell::Scheduler
    ENDING = Thread::Queue.new

    private

    def end_workers
      ENDING << true
      sleep 0.1
      super
    end
  end

  def test_what_is_raised_into_a_thread_that_collects_what_was_lost_is_not_lost
    skip "Ruby closes that of a thread that is killed" unless RUBY_VERSION < "3.2"
    skip "no collection ends a scheduler in Ruby" if BACKENDS == ["select"]

    kill_one_that_sleeps
    collects = Thread.new { loop { GC.start } }
    Timeout.timeout(PATIENCE) { SlowToEnd::ENDING.pop }
    assert_same collects, collects.kill.join(PATIENCE)
  end

  private

  def kill_one_that_sleeps
    sleeps = Thread::Queue.new
    thread = Thread.new do
      Fiber.set_scheduler(SlowToEnd.new)
      Fiber.schedule { sleep }
      sleeps << true
      Fiber.scheduler.run
    end
    sleeps.pop
    thread.kill.join
  end

  def run_every_hook(backend, rounds, how)
    output, status = Open3.capture2e({ "UPWELL_BACKEND" => backend, "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-I#{ROOT}/lib",
                                     "-rupwell", PROGRAM, rounds.to_s, how)
    assert_predicate status, :success?, "#{backend}: #{output}"
    called, defined = output.lines(chomp: true)
    assert_equal defined, called, backend
  end
end
