# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"

class SchedulerTimeTest < Minitest::Test
  include UnderEachScheduler

  ALLOWED = 0.2 # seconds

  def test_sleeps_pass_side_by_side_in_their_order
    on_every_backend do |scheduler|
      woken = []
      ends = [0.03, 0.01, 0.02].map { |duration| schedule_sleep(duration) { |due| woken << due } }
      assert_empty woken
      scheduler.run
      assert_equal ends.map(&:begin).sort, woken.map(&:begin).sort
      woken.combination(2) { |first, later| assert_operator first.begin, :<=, later.end }
    end
  end

  # In a fiber, however late the machine lets it begin.
  #
  # @yieldparam due [Range<Float>] when it had to end
  # @return [Range<Float>]
  def schedule_sleep(duration)
    due = nil
    earliest = now + duration
    Fiber.schedule do
      sleep(duration)
      assert_operator now, :>=, earliest
      yield due
    end
    due = earliest..(now + duration)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def test_sleep_takes_every_kind_of_number
    on_every_backend do
      [0, 1/1000r, 0.001].each { |duration| Fiber.schedule { assert_kind_of Integer, sleep(duration) } }
      Fiber.schedule { assert_raises(ArgumentError) { sleep(-1) } }
      Fiber.schedule { assert_raises(TypeError) { sleep("1") } }
    end
  end

  # What falls due while others compute has its turn before all of them have had theirs.
  def test_timers_and_processes_do_not_queue_behind_a_whole_batch
    on_every_backend do |scheduler, backend|
      fibers = 16
      computed = 0
      ticks = []
      fibers.times { Fiber.schedule { compute(0.005) || ((computed += 1) && scheduler.yield) until ticks.frozen? } }
      Fiber.schedule do
        (1..12).each { |tick| (before = computed) && (tick.even? ? sleep(0.001) : system("exit")) && (ticks << (computed - before)) }
        ticks.freeze
      end
      scheduler.run
      assert_operator ticks.sort[ticks.size / 2], :<, fibers / 2, "#{backend}: others computed so often meanwhile: #{ticks}"
      assert_operator computed, :>=, fibers
    end
  end

  # Nor do others starve those that compute.
  def test_busy_fibers_go_on_beside_many_that_fall_due
    on_every_backend do |scheduler|
      done = false
      Fiber.schedule { 5.times { compute(0.003) || scheduler.yield } && done = true }
      Array.new(20) { Fiber.schedule { compute(0.002) || sleep(0.0001) until done } }
      scheduler.run
      assert done
    end
  end

  def test_sleep_and_io_wait_refuse_what_no_clock_shows
    on_every_backend do
      reader, = IO.pipe
      [Float::INFINITY, Float::NAN, 1e20, 10**20].each do |duration|
        Fiber.schedule { assert_raises(RangeError) { sleep(duration) } }
        Fiber.schedule { assert_raises(RangeError) { reader.wait_readable(duration) } }
      end
      Fiber.schedule { assert_raises(TypeError) { sleep(false) } }
    end
  end

  # As for threads.
  def test_a_negative_time_for_others_is_over_at_once
    on_every_backend do |scheduler|
      Fiber.schedule { refute scheduler.block(nil, -1) }
      next if RUBY_VERSION < "3.2" # has no such limit for a queue, and none that ends Thread#join

      Fiber.schedule { [-1, -0.5, -Float::INFINITY].each { |limit| assert_nil Thread::Queue.new.pop(timeout: limit) } }
      Fiber.schedule { assert_nil Thread::SizedQueue.new(1).push(1).push(2, timeout: -1) }
      Fiber.schedule { assert_nil thread_until_killed { |thread| thread.join(-1) } }
    end
  end

  # @return [Object] what the block returns
  def thread_until_killed
    thread = Thread.new { sleep }
    yield thread
  ensure
    thread.kill
  end

  # As for threads.
  # To JRuby's Thread#join NaN is no time at all.
  TIMES_WITHOUT_END = [Float::INFINITY, *(Float::NAN unless RUBY_ENGINE == "jruby"), 1e20, 10**20].freeze

  def test_a_time_for_others_that_no_clock_shows_is_without_end
    on_every_backend do |scheduler|
      TIMES_WITHOUT_END.each do |limit|
        Fiber.schedule { assert_equal 1, Thread.new { sleep(0.001) && 1 }.join(limit)&.value }
        Fiber.schedule { assert_equal 1, Timeout.timeout(limit) { sleep(0.001) && 1 } }
      end
      scheduler.run
    end
  end

  def test_a_time_for_a_queue_that_no_clock_shows_is_without_end
    skip "Ruby before 3.2 has no time-out of a queue" if RUBY_VERSION < "3.2"
    on_every_backend do |scheduler|
      TIMES_WITHOUT_END.each do |limit|
        queue = Thread::Queue.new
        Fiber.schedule { assert_equal 1, queue.pop(timeout: limit) }
        Fiber.schedule { sleep(0.001) && (queue << 1) }
      end
      scheduler.run
    end
  end

  def test_sleep_without_end_is_ended_by_an_exception
    on_every_backend do
      sleeper = Fiber.schedule { assert_raises(EOFError) { sleep } }
      Fiber.schedule { sleeper.raise(EOFError) }
    end
  end

  def test_ten_thousand_sleepers
    on_every_backend do |scheduler|
      woken = 0
      10_000.times { Fiber.schedule { sleep(0.01) && woken += 1 } }
      assert_equal 10_000, scheduler.stats[:fibers]
      scheduler.run
      assert_equal 10_000, woken
    end
  end

  def test_a_timeout_is_not_lost_when_something_is_raised_into_the_thread_just_before
    on_every_backend do |scheduler|
      ended = false
      error = exception_whose_making { |count| Thread.current.raise(EOFError) if count == 1 }
      Fiber.schedule do
        assert_raises(error) { Timeout.timeout(0.01, error) { sleep(5) } }
        ended = true
      end
      assert_raises(EOFError) { scheduler.run }
      scheduler.run
      assert ended
    end
  end

  # It has to go on first, with the element.
  def test_a_timeout_that_was_tried_once_is_not_lost_when_its_fiber_is_unblocked
    on_every_backend do |scheduler|
      queue = Thread::Queue.new
      ended = false
      error = exception_whose_making { |count| Thread.current.raise(EOFError) if count == 1 }
      Fiber.schedule do
        assert_raises(error) { Timeout.timeout(0.01, error) { queue.pop && sleep(1) } }
        ended = true
      end
      assert_raises(EOFError) { scheduler.run }
      queue << :element
      scheduler.run
      assert ended
    end
  end

  def test_a_timeout_whose_exception_cannot_be_made_is_not_tried_for_ever
    on_every_backend do |scheduler|
      error = exception_whose_making { raise EOFError }
      Fiber.schedule { Timeout.timeout(0.01, error) { sleep(0.2) } }
      2.times { assert_raises(EOFError) { scheduler.run } }
      scheduler.run
    end
  end

  def test_who_is_unblocked_early_goes_on_after_an_exception_in_a_turn
    on_every_backend do |scheduler|
      sleeper = Fiber.schedule { sleep }
      main = Thread.current
      raiser = Thread.new { (sleep 0.01 until main.stop?) || main.raise(EOFError) }
      assert_raises(EOFError) { scheduler.run }
      raiser.join
      Fiber.schedule { scheduler.unblock(nil, Fiber.current) || assert(scheduler.block(nil, 1)) }
      scheduler.unblock(nil, sleeper)
    end
  end

  # The first two end a read, for which their fibers turn the loop. The second does so after the root has looked for time-outs.
  def test_a_timeout_that_is_due_while_another_ends_a_read_is_raised
    on_every_backend do
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      { 0.03 => 0.07, 0.07 => 0.15 }.each do |limit, next_limit|
        pipe = IO.pipe
        error = exception_whose_making { compute_until(start + next_limit + 0.02) }
        Fiber.schedule { assert_raises(error) { Timeout.timeout(limit, error) { pipe.first.read(1) } } && pipe.each(&:close) }
      end
      Fiber.schedule { assert_raises(Timeout::Error) { Timeout.timeout(0.15) { sleep } } }
    end
  end

  def test_a_timeout_ends_what_waits
    on_every_backend do
      reader, writer = IO.pipe
      [-> { sleep }, -> { reader.read }, -> { Thread::Queue.new.pop }, -> { reader.wait_readable }].each do |wait|
        Fiber.schedule do
          error = assert_raises(Timeout::Error) { Timeout.timeout(0.01) { wait.call } }
          assert_equal "execution expired", error.message
        end
      end
      Fiber.schedule { assert_raises(IndexError) { Timeout.timeout(0.01, IndexError) { sleep } } }
      Fiber.schedule { sleep(0.03) || writer.close }
    end
  end

  # Each waits for a pipe of its own, in one fiber; another writes to all, and computes until all deadlines have passed.
  def test_what_was_ready_in_time_is_not_late
    waits = { wait_readable: ->(reader) { reader.wait_readable(ALLOWED) }, wait: ->(reader) { reader.wait(ALLOWED) } }
    waits[:select] = ->(reader) { IO.select([reader], nil, nil, ALLOWED) } if RUBY_VERSION >= "3.2" # else it blocks
    waits[:io_timeout] = ->(reader) { (reader.timeout = ALLOWED) && reader.readpartial(1) } if IO.method_defined?(:timeout=)
    on_every_backend do
      writers = []
      found = {}
      waits.each do |name, wait|
        reader, writer = IO.pipe
        writers << writer
        Fiber.schedule { found[name] = wait.call(reader) }
      end
      Fiber.schedule do
        writers.each { |writer| writer.write("x") }
        compute(1.5 * ALLOWED)
      end
      Fiber.scheduler.run
      assert_equal waits.keys.sort, found.compact.keys.sort
    end
  end

  # What comes in time, while another fiber computes until the deadline has passed.
  def test_a_timeout_loses_nothing_that_was_read
    on_every_backend do
      [IO.pipe, UNIXSocket.pair].each do |reader, writer|
        read = +""
        Fiber.schedule do
          assert_raises(Timeout::Error) { Timeout.timeout(ALLOWED) { (read << reader.readpartial(1)) && sleep } }
          read << reader.read_nonblock(1) if read.empty?
          assert_equal "x", read
        end
        Fiber.schedule { writer.write("x") && compute(1.5 * ALLOWED) }
        Fiber.scheduler.run
      end
    end
  end

  # Whose own limit has passed, too.
  def test_a_timeout_loses_nothing_that_has_come
    waits = { "condition" => ->(_, _, mutex, condition) { mutex.synchronize { condition.wait(mutex, ALLOWED) } } }
    waits["queue"] = ->(_, queue, *) { queue.pop(timeout: ALLOWED) } if RUBY_VERSION >= "3.2"
    waits["read"] = ->(reader, *) { reader.tap { reader.timeout = ALLOWED }.readpartial(1) } if RUBY_VERSION >= "3.2"
    on_every_backend do |scheduler|
      waits.each do |name, wait|
        reader, writer = IO.pipe
        queue = Thread::Queue.new
        condition = ConditionVariable.new
        Fiber.schedule { assert Timeout.timeout(ALLOWED) { wait.call(reader, queue, Mutex.new, condition) }, name }
        Fiber.schedule do
          scheduler.yield
          writer.write("x") && queue.push("x") && condition.signal
          compute(1.5 * ALLOWED)
        end
        scheduler.run
      end
    end
  end

  # With io_uring, what the other fiber writes is read as it is written; what it writes at last comes as the time-out is to be raised.
  def test_a_timeout_loses_nothing_that_comes_as_it_is_raised
    on_every_backend do |scheduler|
      server = TCPServer.new("127.0.0.1", 0)
      writer = TCPSocket.new(*server.addr.values_at(3, 1))
      reader = server.accept
      read = +""
      read_on = -> { read << reader.readpartial(1) until read.size == 2 }
      Fiber.schedule do
        assert_raises(Timeout::Error) { Timeout.timeout(ALLOWED) { read_on.call || sleep } }
        read_on.call
      end
      Fiber.schedule do
        scheduler.yield
        compute(1.5 * ALLOWED)
        writer.write("1")
        scheduler.yield
        writer.write("2")
      end
      scheduler.run
      assert_equal "12", read
    end
  end

  def test_a_timeout_ends_who_waits_for_what_is_always_there
    on_every_backend do
      reader, writer = IO.pipe
      writer.write("x")
      Fiber.schedule { assert_raises(Timeout::Error) { Timeout.timeout(ALLOWED) { loop { reader.wait_readable } } } }
    end
  end

  def test_a_timeout_that_is_not_needed
    on_every_backend do |scheduler|
      Fiber.schedule do
        assert_equal :done, Timeout.timeout(10) { sleep(0.001) && :done }
        assert_equal 0, scheduler.stats[:timers]
      end
    end
  end

  # The last second that is counted in nanoseconds is beyond them when it is added to the clock.
  def test_a_timeout_that_is_hardly_ever_due
    on_every_backend do
      [9_223_372_035, 9_223_372_036, 1 << 62].each do |duration|
        Fiber.schedule { assert_equal :done, Timeout.timeout(duration) { sleep(0.001) && :done } }
      end
    end
  end

  def test_the_inner_of_two_timeouts
    on_every_backend do
      Fiber.schedule do
        Timeout.timeout(10, IndexError) { assert_raises(KeyError) { Timeout.timeout(0.01, KeyError) { sleep } } }
        assert_raises(IndexError) { Timeout.timeout(0.01, IndexError) { Timeout.timeout(10, KeyError) { sleep } } }
      end
    end
  end

  def test_a_timeout_reaches_a_fiber_that_has_resumed_another
    on_every_backend do
      Fiber.schedule do
        lines = Enumerator.new { |found| 3.times { |i| sleep(0.02) && (found << i) } }
        assert_raises(Timeout::Error) do
          Timeout.timeout(0.01) do
            lines.next
            sleep
          end
        end
      end
    end
  end

  private

  def compute(duration)
    compute_until(Process.clock_gettime(Process::CLOCK_MONOTONIC) + duration)
  end

  def compute_until(time)
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > time
  end

  def exception_whose_making(&during)
    count = 0
    Class.new(StandardError) do
      define_singleton_method(:exception) do |*arguments|
        during.call(count += 1)
        super(*arguments)
      end
    end
  end
end
