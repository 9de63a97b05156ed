# frozen_string_literal: true

require "io/wait"

# The smallest fiber scheduler of use, on IO.select: what a tutorial's second step has. Sockets, pipes, sleep, Mutex and Queue work.
class SelectScheduler
  def initialize
    @readers = {} # IO => Fiber
    @writers = {}
    @deadlines = {} # Fiber => seconds of the monotonic clock
    @blocked = {} # Fiber => true, of those that wait for unblock
    @unblocked = Thread::Queue.new
    @wake_reader, @wake_writer = IO.pipe
  end

  def fiber(&block)
    Fiber.new(blocking: false, &block).tap(&:resume)
  end

  def io_wait(io, events, timeout)
    reading = events.anybits?(IO::READABLE)
    writing = events.anybits?(IO::WRITABLE)
    @readers[io] = Fiber.current if reading
    @writers[io] = Fiber.current if writing
    wait_until(timeout)
  ensure
    @readers.delete(io) if reading
    @writers.delete(io) if writing
  end

  def kernel_sleep(duration = nil)
    block(:sleep, duration)
  end

  def block(_blocker, timeout = nil)
    @blocked[Fiber.current] = true
    wait_until(timeout)
  ensure
    @blocked.delete(Fiber.current)
  end

  # From any thread.
  def unblock(_blocker, fiber)
    @unblocked << fiber
    @wake_writer.write_nonblock(".", exception: false)
  end

  def close
    turn until [@readers, @writers, @deadlines, @blocked].all?(&:empty?) && @unblocked.empty?
    @wake_reader.close
    @wake_writer.close
  end

  private

  # What a fiber waits for resumes it with its result; the deadline does with false.
  def wait_until(timeout)
    @deadlines[Fiber.current] = now + timeout if timeout
    Fiber.yield
  ensure
    @deadlines.delete(Fiber.current) if timeout
  end

  def turn
    readable, writable = IO.select([@wake_reader, *@readers.keys], @writers.keys, nil, time_left)
    readable&.each { |io| io == @wake_reader ? resume_unblocked : @readers[io]&.resume(IO::READABLE) }
    writable&.each { |io| @writers[io]&.resume(IO::WRITABLE) }
    resume_late
  end

  def resume_unblocked
    @wake_reader.read_nonblock(4096, exception: false)
    @unblocked.size.times { resume_if_blocked(@unblocked.shift) }
  end

  # It may have gone on meanwhile, by its deadline.
  def resume_if_blocked(fiber)
    fiber.resume(true) if @blocked[fiber]
  end

  def resume_late
    time = now
    late = @deadlines.select { |_fiber, deadline| deadline <= time }
    late.sort_by(&:last).each { |fiber, _deadline| fiber.resume(false) }
  end

  def time_left
    earliest = @deadlines.each_value.min
    earliest && [earliest - now, 0].max
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
