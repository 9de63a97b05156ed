# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/io/select_scheduler"

class SelectSchedulerTest < Minitest::Test
  def schedule
    Thread.new do
      Fiber.set_scheduler(SelectScheduler.new)
      yield
    end.join(60) || flunk("the scheduler does not end")
  end

  def test_a_reader_waits_while_a_writer_goes_on
    events = []
    reader, writer = IO.pipe
    schedule do
      Fiber.schedule { events << reader.read(1) }
      Fiber.schedule { events << writer.write("x") }
    end
    assert_equal [1, "x"], events
  end

  def test_a_writer_waits_until_there_is_room
    reader, writer = IO.pipe
    length = 1_000_000
    received = nil
    schedule do
      Fiber.schedule { writer.write("x" * length).then { writer.close } }
      Fiber.schedule { received = reader.read.bytesize }
    end
    assert_equal length, received
  end

  def test_sleepers_wake_in_the_order_of_their_deadlines
    order = []
    schedule { [0.3, 0.1, 0.2].each { |seconds| Fiber.schedule { sleep(seconds) && (order << seconds) } } }
    assert_equal [0.1, 0.2, 0.3], order
  end

  def test_what_does_not_come_in_time_is_given_up
    reader, _writer = IO.pipe
    result = :none
    schedule { Fiber.schedule { result = reader.wait_readable(0.01) } }
    refute result
  end

  def test_another_thread_wakes_a_fiber
    queue = Thread::Queue.new
    value = nil
    schedule do
      Fiber.schedule { value = queue.pop }
      Thread.new { queue << :here }
    end
    assert_equal :here, value
  end

  def test_a_queue_that_stays_empty_times_out
    skip "Queue#pop knows no timeout before Ruby 3.2" if RUBY_VERSION < "3.2"
    value = :none
    schedule { Fiber.schedule { value = Thread::Queue.new.pop(timeout: 0.01) } }
    assert_nil value
  end
end
