# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"

# What another thread, a time-out or a trap handler raises comes at any moment, and takes nothing from those that wait.
class SchedulerAsyncExceptionsTest < Minitest::Test
  include UnderEachScheduler

  FOLDER = File.expand_path("../../../lib/upwell/pure/", __dir__)
  MOMENTS = %i[line call return b_return c_call c_return].freeze
  ENDS = %i[return b_return c_return].freeze # at which Ruby does raise it, and so what they return may be lost
  SAFE = %i[uninterrupted exception backtrace].freeze # where Ruby raises nothing: it begins with no check; the others are called as it raises
  BEFORE = %i[line c_call].freeze
  MASKS = /\A\s*(Pure\.uninterrupted|Thread\.handle_interrupt)/
  ENOUGH = PATIENCE / 2
  SOME = %w[joined read starter timed_out yielded].freeze
  ALL = %w[interrupted joined raised raiser read started starter timed_out yielded].freeze

  def test_whatever_is_raised_into_the_root_loses_nothing
    skip "the extension's root is in C, where nothing comes between" unless BACKENDS.include?("select")

    struck = (1..).find { |moment| !survives?(moment) }
    assert_operator struck, :>, 300
  end

  def test_whatever_is_raised_into_a_fiber_takes_nothing_from_others
    skip "the extension's waits are in C, where nothing comes between" unless BACKENDS.include?("select")

    struck = (1..).find { |moment| !others_survive?(moment) }
    assert_operator struck, :>, 100
  end

  # Ruby tells of such an exception only when asked.
  def test_what_was_put_off_until_the_thread_blocks_comes_before_the_wait
    on_every_backend do |scheduler|
      fiber = Fiber.schedule do
        Thread.handle_interrupt(EOFError => :on_blocking) do
          Thread.current.raise(EOFError)
          assert_raises(IOError) { sleep(ENOUGH) }
        end
      end
      assert_operator seconds { assert_raises(EOFError) { scheduler.run } }, :<, ENOUGH / 10
      fiber.raise(IOError)
    end
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
      root = Fiber.current
      struck, = strike(moment, MOMENTS, ->(fiber) { fiber.equal?(root) }) { scheduler.run }
      scheduler.run
      assert_equal ALL, ended.sort, "after what was raised at #{struck}"
    end
    struck
  end

  # One that is struck before its block begins, or behind it, tells of nothing.
  def others_survive?(moment)
    struck = nil
    scheduled("select") do |scheduler|
      ended = []
      names = play_some(scheduler, ended)
      root = Fiber.current
      struck, fiber = strike(moment, ENDS, ->(fiber) { !fiber.equal?(root) }) { scheduler.run }
      scheduler.run
      assert_empty SOME - ended - [names[fiber]], "after what was raised at #{struck}"
    end
    struck
  end

  # @return [Array(String, Fiber), nil] where, and into which
  def strike(moment, events, chosen, &block)
    thread = Thread.current
    struck = nil
    trace = TracePoint.new(*events) do |at|
      next if !Thread.current.equal?(thread) || !at.path.start_with?(FOLDER) || safe?(at)
      next unless chosen.call(Fiber.current) && (moment -= 1).zero?

      struck = ["#{at.event} of #{at.path}:#{at.lineno}", Fiber.current]
      thread.raise(EOFError)
    end
    trace.enable(&block)
    struck
  rescue EOFError
    struck
  end

  # That a line begins is no moment of Ruby's. It stands for those within it, of which there are none before what is not interrupted.
  def safe?(moment)
    SAFE.include?(moment.method_id) || (BEFORE.include?(moment.event) && line(moment).match?(MASKS))
  end

  def line(moment)
    @lines ||= Hash.new { |lines, path| lines[path] = File.readlines(path) }
    @lines[moment.path][moment.lineno - 1]
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

  # @return [Hash{Fiber => String}]
  def play_some(scheduler, ended)
    reader, writer = IO.pipe
    does = { "yielded" => -> { 2.times { scheduler.yield } },
             "starter" => -> { Fiber.schedule { sleep(0) } },
             "read" => -> { reader.read },
             "joined" => -> { Thread.new { writer.close }.join },
             "timed_out" => -> { Timeout.timeout(0.0001, EOFError) { sleep } } }
    does.to_h { |name, action| [telling(ended, name) { action.call rescue EOFError }, name] } # rubocop:disable Style/RescueModifier
  end
end
