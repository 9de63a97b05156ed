# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"

# What another thread, a time-out or a trap handler raises comes at any moment, and takes nothing from those that wait.
class SchedulerStruckTest < Minitest::Test
  include Scheduling

  FOLDER = File.expand_path("../../../lib/upwell/pure/", __dir__)
  MOMENTS = %i[line call return c_call].freeze
  ENOUGH = PATIENCE / 2
  ALL = %w[interrupted joined raised raiser read started starter timed_out yielded].freeze

  def test_whatever_is_raised_into_the_root_loses_nothing
    skip "the extension's root is in C, where nothing comes between" unless BACKENDS.include?("select")

    struck = (1..).find { |moment| !survives?(moment) }
    assert_operator struck, :>, 300
  end

  # What woke it would be lost.
  def test_a_fiber_is_not_interrupted_that_was_woken
    skip_without_interrupts

    on_every_backend do |scheduler|
      queue = Thread::Queue.new
      popped = nil
      fiber = Fiber.schedule do
        popped = queue.pop
        assert_raises(EOFError) { sleep(ENOUGH) }
      end
      queue << :element
      interrupt(scheduler, fiber)
      scheduler.run
      assert_equal :element, popped
    end
  end

  # Ruby 3.1 does not raise into it before that other one has ended; later, it raises there.
  def test_a_fiber_is_interrupted_that_has_resumed_another
    skip_without_interrupts

    on_every_backend do |scheduler|
      interrupted = false
      fiber = Fiber.schedule do
        Fiber.new { sleep(0.01) }.resume
        sleep(ENOUGH)
      rescue EOFError
        interrupted = true
      end
      interrupt(scheduler, fiber)
      scheduler.run
      assert interrupted
    end
  end

  private

  # As IO#close does since Ruby 4.0.
  def interrupt(scheduler, fiber)
    return scheduler.fiber_interrupt(fiber, EOFError.new) if scheduler.respond_to?(:fiber_interrupt)

    scheduler.send(:fibers).events.interrupt(fiber, EOFError.new)
  end

  def skip_without_interrupts
    skip "Ruby does not ask the extension to" unless BACKENDS.include?("select") || RUBY_VERSION >= "4.0"
  end

  # @return [Boolean] whether there was such a moment
  def survives?(moment)
    struck = nil
    scheduled("select") do |scheduler|
      ended = []
      play(scheduler, ended)
      struck = strike(moment) { scheduler.run }
      scheduler.run
      assert_equal ALL, ended.sort, "after what was raised at #{struck}"
    end
    struck
  end

  def strike(moment, &block)
    root = Fiber.current
    struck = nil
    trace = TracePoint.new(*MOMENTS) do |at|
      next unless at.path.start_with?(FOLDER) && Fiber.current.equal?(root) && (moment -= 1).zero?

      struck = "#{at.event} of #{at.path}:#{at.lineno}"
      Thread.current.raise(EOFError)
    end
    trace.enable(&block)
  rescue EOFError
    struck
  end

  # Each tells of its end.
  def play(scheduler, ended)
    telling(ended, "yielded") { 2.times { scheduler.yield } }
    telling(ended, "starter") { sleep(0) && telling(ended, "started") { sleep(0) } }
    play_waking(ended)
    play_raising(scheduler, ended)
  end

  def telling(ended, name)
    Fiber.schedule do
      yield
      ended << name
    end
  end

  def play_waking(ended)
    reader, writer = IO.pipe
    telling(ended, "read") { reader.read }
    telling(ended, "joined") { Thread.new { writer.close }.join }
  end

  def play_raising(scheduler, ended)
    raised = telling(ended, "raised") { assert_raises(KeyError) { sleep } && sleep(0) }
    telling(ended, "raiser") { scheduler.yield || raised.raise(KeyError) }
    telling(ended, "timed_out") { assert_raises(IndexError) { Timeout.timeout(0.0001, IndexError) { sleep } } }
    interrupt(scheduler, telling(ended, "interrupted") { assert_raises(EOFError) { sleep } })
  end
end
