# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"
require "monitor"

class SchedulerThreadsTest < Minitest::Test
  include UnderEachScheduler

  def test_queues_between_threads_and_fibers
    on_every_backend do
      queue = Thread::Queue.new
      bounded = Thread::SizedQueue.new(1)
      Thread.new { 100.times { |i| queue << i } }
      Thread.new { 100.times { |i| assert_equal i, bounded.pop } }
      Fiber.schedule { 100.times { |i| assert_equal i, queue.pop } }
      Fiber.schedule { 100.times { |i| bounded << i } }
    end
  end

  def test_many_threads_unblock_many_fibers
    on_every_backend do
      queue = Thread::Queue.new
      got = 0
      20.times { Fiber.schedule { 100.times { queue.pop && got += 1 } } }
      threads = Array.new(4) { Thread.new { 500.times { queue << 1 } } }
      Fiber.schedule { threads.each(&:join) }
      Fiber.scheduler.run
      assert_equal 2000, got
    end
  end

  def test_a_mutex_and_a_condition
    on_every_backend do |scheduler|
      mutex = Thread::Mutex.new
      condition = Thread::ConditionVariable.new
      order = []
      Fiber.schedule { mutex.synchronize { condition.wait(mutex) && (order << :woken) } }
      Fiber.schedule { mutex.synchronize { (order << :locked) && sleep(0.005) && (order << :unlocks) && condition.signal } }
      Fiber.schedule { mutex.synchronize { order << :after } }
      Fiber.schedule { mutex.synchronize { condition.wait(mutex, 0.001) } }
      scheduler.run
      assert_equal %i[locked unlocks after woken].sort, order.sort
      assert_equal %i[locked unlocks], order.first(2)
    end
  end

  def test_a_condition_finds_those_that_wait_whenever_they_began
    on_every_backend do |scheduler|
      mutex = Thread::Mutex.new
      condition = Thread::ConditionVariable.new
      woken = []
      await = ->(name) { Fiber.schedule { mutex.synchronize { condition.wait(mutex, PATIENCE) } && (woken << name) } }
      Fiber.schedule { sleep(0.001) && (woken << :slept) }
      await.call(1)
      await.call(2)
      Fiber.schedule { condition.signal }
      await.call(3)
      Fiber.schedule { sleep(0.005) && condition.broadcast }
      scheduler.run
      assert_equal [1, :slept, 2, 3], woken
    end
  end

  # Ruby wakes one of those that wait for a mutex, and forgets the others when that one does not take it.
  def test_a_mutex_is_passed_on_when_its_next_holder_is_raised_into
    on_every_backend do |scheduler|
      mutex = Thread::Mutex.new
      locked = []
      waiter = nil
      Fiber.schedule { mutex.synchronize { sleep(0.001) } && waiter.raise(KeyError) }
      waiter = Fiber.schedule { assert_raises(KeyError) { mutex.synchronize { locked << :waiter } } }
      Fiber.schedule { mutex.synchronize { locked << :last } }
      scheduler.run
      assert_equal [:last], locked
    end
  end

  def test_a_time_out_does_not_take_what_has_come_before
    on_every_backend do |scheduler|
      queue = Thread::Queue.new
      got = []
      Fiber.schedule do
        Timeout.timeout(0.05) { (got << queue.pop) && sleep(PATIENCE) }
      rescue Timeout::Error
        got << :late
      end
      Fiber.schedule do
        scheduler.yield # which takes no time, however busy the machine is
        computing = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.06
        nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < computing
        queue << :element
      end
      scheduler.run
      assert_equal %i[element late], got
    end
  end

  def test_a_monitor
    on_every_backend do
      monitor = Monitor.new
      condition = monitor.new_cond
      ready = false
      Fiber.schedule { monitor.synchronize { condition.wait_until { ready } } }
      Thread.new { monitor.synchronize { (ready = true) && condition.broadcast } }
    end
  end

  def test_joining_threads
    on_every_backend do
      Fiber.schedule { assert_equal 42, Thread.new { sleep(0.005) && 42 }.value }
      Fiber.schedule { join_for_too_short_a_time } if RUBY_VERSION >= "3.2" # Ruby 3.1 does not end such a wait
      Fiber.schedule do
        thread = Thread.new { (Thread.current.report_on_exception = false) || raise(KeyError) }
        assert_raises(KeyError) { thread.join }
      end
    end
  end

  def test_schedulers_of_several_threads
    on_every_backend do |_scheduler, backend|
      queue = Thread::Queue.new
      other = Thread.new do
        Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
        Fiber.schedule { 3.times { |i| sleep(0.001) && (queue << i) } }
      end
      Fiber.schedule { assert_equal([0, 1, 2], Array.new(3) { queue.pop }) }
      Fiber.schedule { other.join }
    end
  end

  def test_the_threads_for_names_end_with_their_scheduler
    before = Thread.list
    on_every_backend { Fiber.schedule { Addrinfo.getaddrinfo("localhost", 80) } }
    (Thread.list - before).each { |thread| assert thread.join(PATIENCE) }
  end

  # Ruby has the fiber sleep meanwhile, and since 3.2 the threads that leave the IO wake its thread, which is not what it waits for.
  def test_an_io_that_threads_read_is_closed
    skip_on_windows "Ruby hangs where several threads read from one pipe, without a scheduler, too (seen under Wine)"
    on_every_backend do
      Fiber.schedule do
        %i[close close_read].cycle.first(10).each do |close|
          reader, writer = IO.pipe
          readers = Array.new(5) { Thread.new { assert_raises(IOError) { reader.read } } }
          sleep(0.001) until readers.all?(&:stop?)
          reader.public_send(close)
          readers.each(&:join)
          writer.close
        end
      end
    end
  end

  # The scheduler's turn without the interpreter's lock is one that a trap handler may end.
  def test_a_trap_handler_unblocks
    skip_on_windows "a process sends no signal to another"
    IO.popen([RbConfig.ruby, "-I#{$LOAD_PATH.first}", "-rupwell", "-e", <<~RUBY]) do |out|
      $stdout.sync = true
      queue = Thread::Queue.new
      trap(:USR1) { queue << "trapped" }
      Fiber.set_scheduler(Upwell::Scheduler.new)
      Fiber.schedule { puts "ready"; puts queue.pop }
    RUBY
      assert_equal "ready\n", out.gets
      Process.kill(:USR1, out.pid)
      assert_equal "trapped\n", out.read
    end
  end

  def join_for_too_short_a_time
    gate = Thread::Queue.new
    thread = Thread.new { gate.pop }
    assert_nil thread.join(0.001)
    gate << true
    assert_same thread, thread.join
  end
end
