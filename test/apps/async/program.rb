# frozen_string_literal: true

# What programs do with the gem async, on Upwell's scheduler. Prints the names of what went right; anything else ends it.
require "upwell"
require "async"
require "async/barrier"
require "async/condition"
require "async/notification"
require "async/queue"
require "async/semaphore"
require "async/variable"
require "stringio"
require_relative "../../support/elapsed_time"

# Each `try_` is a program of its own.
class Program
  include ElapsedTime

  def check(expected, found)
    raise "#{caller(1..1).first}: #{expected.inspect} expected, not #{found.inspect}" unless expected == found
  end

  def try_tasks_wait_side_by_side
    took = seconds { Sync { |task| check((0...20).to_a, Array.new(20) { |i| task.async { sleep(0.5) && i } }.map(&:wait)) } }
    raise "#{took} s" if took > 8
  end

  def try_async_and_wait
    check(42, Async { sleep(0.001) && 42 }.wait)
    check(:inner, Sync { Async { Sync { :inner } }.wait })
  end

  def try_errors
    Sync { |task| task.async(finished: Async::Condition.new) { raise KeyError, "mine" }.wait }
  rescue KeyError => e
    check("mine", e.message)
  end

  def try_barrier
    barrier = Async::Barrier.new
    done = []
    Sync { 5.times { |i| barrier.async { sleep(0.02 * (5 - i)) && (done << i) } } && barrier.wait }
    check([0, 1, 2, 3, 4], done.sort)
    Sync { barrier.async { sleep } && barrier.stop }
  end

  def try_semaphore
    semaphore = Async::Semaphore.new(2)
    now = most = 0
    Sync do
      tasks = Array.new(6) do
        semaphore.async do
          most = [most, now += 1].max
          sleep 0.002
          now -= 1
        end
      end
      tasks.each(&:wait)
    end
    check([2, 0], [most, now])
  end

  def try_queue
    queue = Async::Queue.new
    Sync do |task|
      taker = task.async { Array.new(4) { queue.dequeue } }
      queue.enqueue(1)
      sleep 0.001
      queue.enqueue(2, 3)
      queue << 4
      check([1, 2, 3, 4], taker.wait)
    end
  end

  def try_signals
    [Async::Notification.new, Async::Condition.new].each do |signal|
      Sync do |task|
        waiting = Array.new(3) { task.async { signal.wait } }
        sleep 0.001
        signal.signal(:value)
        check([:value] * 3, waiting.map(&:wait))
      end
    end
  end

  def try_variable
    variable = Async::Variable.new
    Sync do |task|
      reader = task.async { variable.wait }
      variable.resolve(7)
      check(7, reader.wait)
    end
  end

  def try_timeouts
    Sync do |task|
      check(:late, (task.with_timeout(0.01) { sleep } rescue :late)) # rubocop:disable Style/RescueModifier
      check(:in_time, task.with_timeout(10) { sleep(0.001) && :in_time })
      check(:late, limited_later(task))
    end
  end

  def try_a_timeout_that_was_cancelled
    Sync do |task|
      task.with_timeout(60) do |timeout|
        timeout.cancel!
        check(true, timeout.cancelled?)
        timeout.adjust(1)
      end
    end
  rescue Async::Timeout::CancelledError => e
    check("Cannot reschedule a cancelled timeout!", e.message)
  else
    raise "it was adjusted"
  end

  def limited_later(task)
    task.with_timeout(60) do |timeout|
      timeout.duration = 0.01
      sleep
    end
  rescue Async::TimeoutError
    :late
  end

  def try_stop
    ensured = []
    Sync do |task|
      outer = task.async do |other|
        other.async { sleep }
        sleep
      ensure
        ensured << true
      end
      sleep 0.001
      outer.stop
      sleep 0.001 until outer.finished?
      check([true], ensured)
    end
  end

  def try_the_current_task_stops_itself
    Sync do |task|
      went_on = false
      one = task.async { |self_| self_.stop && went_on = true }
      one.wait
      check(false, went_on)
    end
  end

  def try_yield
    order = []
    Sync do |task|
      2.times.map { |i| task.async { 3.times { (order << i) && task.yield } } }.each(&:wait)
    end
    check([0, 1, 0, 1, 0, 1], order)
  end

  def try_sockets
    reader, writer = IO.pipe
    Sync { |task| [task.async { reader.gets }, task.async { sleep(0.001) && writer.puts("line") }].tap { |one,| check("line\n", one.wait) } }
  end

  def try_tree
    Sync do |task|
      check(true, task.reactor.equal?(task.root))
      check(:there, task.reactor.async { :there }.wait)
      task.root.print_hierarchy(out = StringIO.new)
      check(true, out.string.include?("Async::Task"))
    end
  end

  # Each that waits for an IO, too; and what it stops as it ends.
  def try_a_stopped_task_has_ended
    reader, writer = IO.pipe
    Sync do |task|
      inner = task.async { reader.read(1) }
      middle = task.async do
        reader.wait_readable
      ensure
        inner.stop
        check(true, inner.finished?)
      end
      middle.stop
      check(true, middle.finished?)
    end
    writer.close
  end

  def try_transient
    Sync { |task| task.async(transient: true) { sleep } }
  end

  def try_plain_fibers_beside
    done = []
    Sync do |task|
      Fiber.schedule { sleep(0.001) && (done << :fiber) }
      task.async { sleep(0.002) && (done << :task) }.wait
    end
    check(%i[fiber task], done)
  end
end

program = Program.new
names = program.methods.grep(/\Atry_/).sort
names.each do |name|
  thread = Thread.new do # whose end runs all to their end
    Fiber.set_scheduler(Upwell::Scheduler.new)
    Fiber.schedule { program.send(name) }
    Fiber.scheduler.run
    raise Fiber.scheduler.stats.inspect unless Fiber.scheduler.stats[:waiting].zero?
  end
  thread.join(20) || abort("#{name} is stuck")
end
puts names
