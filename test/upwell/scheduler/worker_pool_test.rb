# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"

class SchedulerWorkerPoolTest < Minitest::Test
  include UnderEachScheduler

  # An idle thread is there for one of them only, however many come before it runs.
  def test_nothing_waits_behind_another_while_threads_may_be_started
    on_every_backend do
      pool = Upwell::Scheduler::WorkerPool.new
      pool.call { nil }
      gate = Thread::Queue.new
      Fiber.schedule { assert_equal :opened, Timeout.timeout(PATIENCE / 2) { pool.call { gate.pop } } }
      Fiber.schedule { pool.call { gate << :opened } }
    end
  end

  def test_more_work_than_threads
    on_every_backend do |scheduler|
      pool = Upwell::Scheduler::WorkerPool.new
      threads = []
      count = Upwell::Scheduler::WorkerPool::SIZE * 3
      results = []
      count.times { |i| Fiber.schedule { results << pool.call { (threads << Thread.current) && sleep(0.001) && i } } }
      scheduler.run
      assert_equal count.times.to_a, results.sort
      assert_operator threads.uniq.size, :<=, Upwell::Scheduler::WorkerPool::SIZE
    end
  end
end
