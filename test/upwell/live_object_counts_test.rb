# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "rbconfig"

# Upwell.stats, each time in a process of its own: it counts all that there is.
class LiveObjectCountsTest < Minitest::Test
  LIBRARY = File.expand_path("../../lib", __dir__)
  NOTHING = { "schedulers" => 0, "loops" => 0, "fibers" => 0, "waiting" => 0, "watches" => 0, "descriptors" => 0, "operations" => 0,
              "timers" => 0 }.freeze

  def test_nothing
    assert_equal [NOTHING], stats_of("tell")
  end

  def test_schedulers
    BACKENDS.each do |backend|
      seen = stats_of(<<~RUBY, backend)
        scheduler = Upwell::Scheduler.new
        Fiber.set_scheduler(scheduler)
        reader, writer = IO.pipe
        Fiber.schedule { reader.read(1) }
        2.times { Fiber.schedule { sleep 0.001 } }
        tell
        writer << "x"
        scheduler.run
        tell
        Fiber.set_scheduler(nil)
        tell
      RUBY
      expected = { "schedulers" => 1, "fibers" => 3, "waiting" => 3, "descriptors" => 1, "operations" => 1, "timers" => 2 }
      assert_equal [{ **NOTHING, **expected }, { **NOTHING, "schedulers" => 1 }, NOTHING], seen, backend
    end
  end

  def test_what_io_select_waits_for_is_counted
    skip "Ruby asks the scheduler since 3.2" if RUBY_VERSION < "3.2"

    BACKENDS.each do |backend|
      seen = stats_of(<<~RUBY, backend)
        Fiber.set_scheduler(Upwell::Scheduler.new)
        pipes = Array.new(3) { IO.pipe }
        Fiber.schedule { IO.select(pipes.map(&:first), nil, nil, 60) }
        tell
        pipes.first.last << "x"
        Fiber.scheduler.run
        tell
      RUBY
      expected = { "schedulers" => 1, "fibers" => 1, "waiting" => 1, "descriptors" => 3, "operations" => 3, "timers" => 1 }
      assert_equal [{ **NOTHING, **expected }, { **NOTHING, "schedulers" => 1 }], seen, backend
    end
  end

  # Before Ruby 3.3, a WeakMap names what was collected, and breaks when objects are compacted.
  def test_counting_while_objects_come_and_go
    skip "objects are not compacted here" unless GC.respond_to?(:compact)

    seen = stats_of(<<~RUBY)
      threads = Array.new(3) do
        Thread.new { 1000.times { |number| Upwell::Selector.new.tap { |selector| selector.wait(0) }.close && number % 10 == 0 && Upwell.stats } }
      end
      10.times { GC.compact && sleep(0.01) }
      threads.each(&:join)
      tell
    RUBY
    assert_equal [NOTHING], seen
  end

  def test_what_nobody_refers_to_is_not_counted
    seen = stats_of(<<~RUBY)
      GC.disable # or some may be gone before the first look
      wait = -> { 20.times { Upwell::Loop.new.watch_timer(:now, 0).watch_timer(:later, 60).next_event } }
      Thread.new(&wait).join
      tell
      GC.start
      tell
    RUBY
    before, after = seen.map { |stats| stats["loops"] }
    assert_operator after, :<, before
  end

  def test_what_other_threads_do_is_counted
    BACKENDS.each do |backend|
      seen = stats_of(<<~RUBY, backend)
        queues = Array.new(2) { Thread::Queue.new }
        threads = queues.map do |queue|
          Thread.new do
            Fiber.set_scheduler(Upwell::Scheduler.new)
            Fiber.schedule { queue.pop }
          end
        end
        Thread.pass until Upwell.stats[:waiting] == 2
        tell
        queues.each(&:close)
        threads.each(&:join)
        tell
      RUBY
      assert_equal [{ **NOTHING, "schedulers" => 2, "fibers" => 2, "waiting" => 2 }, NOTHING], seen, backend
    end
  end

  def test_loops_and_selectors
    BACKENDS.each do |backend|
      seen = stats_of(<<~RUBY, backend)
        reader, writer = IO.pipe
        events = Upwell::Loop.new
        events.watch_io(:io, reader, false, false).watch_timer(:timer, 60)
        events.watch_timer(:now, 0).next_event
        tell
        events.unwatch(:io).unwatch(:timer).watch_timer(:now, 0).next_event
        tell
        selector = Upwell::Selector.new
        selector.register(reader, Upwell::Selector::READABLE)
        selector.wait(0)
        tell
        selector.close
        tell
      RUBY
      one = { **NOTHING, "loops" => 1 }
      watching = { **one, "watches" => 2, "descriptors" => 1, "operations" => 1, "timers" => 1 }
      assert_equal [watching, one, { **NOTHING, "loops" => 2, "watches" => 1, "descriptors" => 1, "operations" => 1 }, one], seen, backend
    end
  end

  def test_a_child_starts_with_nothing
    seen = stats_of(<<~RUBY)
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Upwell::Loop.new.watch_timer(:now, 0).next_event
      Fiber.schedule { sleep 60 }
      Process.wait(fork { tell && exit!(0) })
      exit!(0)
    RUBY
    assert_equal [NOTHING], seen
  end

  private

  # @return [Array<Hash>] what each `tell` of the program saw
  def stats_of(program, backend = nil)
    program = "require 'json'\ndef tell = $stdout.syswrite(JSON.generate(Upwell.stats) + %(\\n))\n#{program}"
    environment = BundleGemPaths.environment_without_rubygems("UPWELL_BACKEND" => backend)
    output, status = Open3.capture2e(environment, RbConfig.ruby, "-I#{LIBRARY}", "-rupwell", "-e", program)
    assert_predicate status, :success?, output
    output.lines.map { |line| JSON.parse(line) }
  end
end
