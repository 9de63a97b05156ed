# frozen_string_literal: true

require "io/wait"
require "socket"
require "tempfile"
require "timeout"
require_relative "test_results_by_backend"
require_relative "elapsed_time"
require_relative "platform_skips"

# Runs blocks of a test under a scheduler, on every backend that works here.
module UnderEachScheduler
  include ElapsedTime
  include PlatformSkips

  # Far more than anything here takes: whoever waits that long waits for what was lost. Under Wine each call is a message to its server.
  PATIENCE = PlatformSkips::WINDOWS ? 200 : 60

  # On a thread of its own, so that its scheduler is closed with it. What is left behind fails the test.
  def scheduled(backend, of: Upwell::Scheduler, **options)
    thread = Thread.new do
      Thread.current.report_on_exception = false
      scheduler = of.new(backend: backend, **options)
      assert_equal backend, scheduler.backend
      TestResultsByBackend.on(backend)
      Fiber.set_scheduler(scheduler)
      yield scheduler
      scheduler.run
      assert_equal [0, 0, 0, 0], scheduler.stats.values_at(:fibers, :waiting, :operations, :timers)
    end
    thread.join(PATIENCE) || flunk("the scheduler is stuck on #{backend}: #{thread.backtrace.first(5).join("\n")}")
  ensure
    thread&.kill
  end

  def on_every_backend(**options)
    BACKENDS.each { |backend| scheduled(backend, **options) { |scheduler| yield scheduler, backend } }
  end

  # Collects garbage until the block returns true: what is found is given back by a thread.
  def await_collected
    Timeout.timeout(PATIENCE) do
      until yield
        GC.start
        sleep 0.01
      end
    end
  end
end
