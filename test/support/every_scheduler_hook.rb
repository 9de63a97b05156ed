# frozen_string_literal: true

# Every hook of Upwell::Scheduler, with contents that come out wrong when memory in use was freed or moved. A program:
#
#   ruby -rupwell every_scheduler_hook.rb ROUNDS (plain | stress | compact)
#
# prints the hooks that were called and that there are. The backend is that of UPWELL_BACKEND.

require "io/wait"
require "socket"
require "tempfile"
require "timeout"
require "zlib"

Warning[:experimental] = false
Thread.abort_on_exception = true

HOOKS = %i[address_resolve block blocking_operation_wait fiber fiber_interrupt io_close io_pread io_pwrite io_read io_select io_wait io_write
           kernel_sleep process_wait timeout_after unblock yield].freeze
PIPE_FILLING = 70_000 # bytes, more than a pipe or a socket takes at once
SELECTED = 20 # IOs, more than there is room for on the stack
FILLERS = %w[a b c].freeze

# What the fibers do. Each `try_` takes the place of a program.
class EverySchedulerHook
  def run
    @seed = Random.rand(1 << 32)
    methods.grep(/\Atry_/).each { |name| Fiber.schedule { send(name) } }
    Fiber.scheduler.run
  end

  private

  def check(expected, found)
    found = found.b if found.is_a?(String)
    raise "#{caller(1..1).first}: #{expected.inspect[0, 100]} expected, not #{found.inspect[0, 100]}" unless expected == found
  end

  def check_raised(error)
    yield
  rescue error
    nil
  else
    raise "#{caller(1..1).first}: #{error} expected"
  end

  # Of every caller and every time the same, and nowhere else.
  def bytes(count, seed = @seed)
    Random.new(seed).bytes(count)
  end

  def pipe_and_socket
    sockets = UNIXSocket.pair
    sockets.last.setsockopt(:SOCKET, :SNDBUF, PIPE_FILLING / 4)
    [IO.pipe, sockets]
  end

  # Takes the place of whatever has been freed, as others wait; what something else writes there is found out.
  def churn
    strings = FILLERS.map { |filler| filler * 20_000 }
    sleep(0.001)
    GC.start
    FILLERS.zip(strings).each { |filler, string| check(20_000, string.count(filler)) }
  end

  public

  def try_wait
    one, other = UNIXSocket.pair
    Fiber.schedule { churn && other.write("x") }
    check(one, one.wait_readable(60))
    check("x", one.readpartial(10))
    check(nil, one.wait_readable(0.001))
    check(IO::WRITABLE, Fiber.scheduler.io_wait(one, IO::READABLE | IO::WRITABLE, nil))
  end

  def try_read_and_write
    pipe_and_socket.each do |reader, writer|
      Fiber.schedule { writer.write(bytes(PIPE_FILLING)) && writer.close }
      churn
      check(bytes(PIPE_FILLING), reader.read)
    end
  end

  def try_read_that_waits
    [IO.pipe, UNIXSocket.pair].each do |reader, writer|
      Fiber.schedule { 2.times { |i| churn && writer.write(bytes(1_000, i)) } }
      check(bytes(1_000, 0) + bytes(1_000, 1), reader.read(2_000))
    end
  end

  def try_write_of_several
    reader, writer = IO.pipe
    Fiber.schedule { writer.write(bytes(PIPE_FILLING), bytes(10), "", bytes(PIPE_FILLING, 1)) && writer.close }
    churn
    check(bytes(PIPE_FILLING) + bytes(10) + bytes(PIPE_FILLING, 1), reader.read)
  end

  def try_buffers
    reader, writer = UNIXSocket.pair
    Fiber.schedule { churn && IO::Buffer.for(bytes(1_000)).write(writer, 1_000) }
    buffer = IO::Buffer.new(1_000)
    check(1_000, buffer.read(reader, 1_000))
    check(bytes(1_000), buffer.get_string)
  end

  def try_places_in_files
    Tempfile.create("upwell") do |file|
      file.binmode
      check(PIPE_FILLING, file.pwrite(bytes(PIPE_FILLING), 10))
      check(bytes(PIPE_FILLING)[1..], file.pread(PIPE_FILLING, 11))
      buffer = IO::Buffer.new(100)
      check(100, RUBY_VERSION < "3.2" ? buffer.pread(file, 100, 10) : buffer.pread(file, 10, 100))
      check(bytes(100), buffer.get_string)
    end
  end

  def try_select
    pipes = Array.new(SELECTED) { IO.pipe }
    Fiber.schedule { churn && pipes.last.last.write("x") }
    readers = pipes.map(&:first)
    return check("x", readers.last.read(1)) if RUBY_VERSION < "3.2" # which does not ask

    check([[readers.last], [], []], IO.select(readers, nil, nil, 60))
    check(nil, IO.select(readers.first(2), nil, nil, 0.001))
  end

  def try_close
    [IO.pipe, UNIXSocket.pair].each do |reader, _writer|
      Fiber.schedule { sleep(0.001) && reader.close }
      check_raised(IOError) { reader.read(20_000) }
      churn
    end
  end

  def try_timeout
    [IO.pipe, UNIXSocket.pair].each do |reader, writer|
      check_raised(KeyError) { Timeout.timeout(0.002, KeyError, "late") { reader.read(20_000) } }
      writer << "x"
      churn
      check("x", reader.readpartial(20_000))
    end
  end

  def try_raise
    reader, writer = UNIXSocket.pair
    fiber = Fiber.schedule { check_raised(KeyError) { reader.read(20_000) } }
    sleep(0.001)
    fiber.raise(KeyError)
    writer << "x"
    churn
    check("x", reader.readpartial(20_000))
  end

  def try_block
    queue = Thread::Queue.new
    thread = Thread.new { 3.times { |i| queue << bytes(100, i) } }
    3.times { |i| check(bytes(100, i), queue.pop) }
    mutex = Thread::Mutex.new
    Fiber.schedule { mutex.synchronize { churn } }
    check(thread, mutex.synchronize { thread.join })
  end

  def try_processes
    check("out\n", `echo out`)
    pid = Process.spawn("exit 3")
    churn
    check([pid, 3], Process.wait2(pid).then { |found, status| [found, status.exitstatus] })
  end

  def try_names
    check(["127.0.0.1"], Fiber.scheduler.address_resolve("127.0.0.1"))
    check(true, Addrinfo.getaddrinfo("localhost", 80).any? { |address| ["127.0.0.1", "::1"].include?(address.ip_address) })
  end

  def try_fibers
    results = []
    Fiber.schedule(**(RUBY_VERSION < "3.2" ? {} : { storage: { seed: @seed } })) do
      Fiber.scheduler.yield
      churn
      results << bytes(10)
    end
    results << :first
    nil until Fiber.scheduler.yield || results.size == 2
    check([:first, bytes(10)], results)
  end

  def try_work_without_the_lock
    packed = Zlib.deflate(bytes(30_000))
    churn
    check(bytes(30_000), Zlib.inflate(packed))
  end

  def try_interrupt
    return unless Fiber.scheduler.respond_to?(:fiber_interrupt)

    fiber = Fiber.schedule { check_raised(KeyError) { IO.pipe.first.read(20_000) } }
    Fiber.scheduler.fiber_interrupt(fiber, KeyError.new("interrupted"))
    churn
  end
end

rounds, how = ARGV
called = []
trace = TracePoint.new(:call, :c_call) { |point| called << point.method_id if point.self.is_a?(Upwell::Scheduler) }
Fiber.set_scheduler(Upwell::Scheduler.new(offload: true))
trace.enable { EverySchedulerHook.new.run }
GC.stress = how == "stress"
GC.auto_compact = true if how == "compact"
Integer(rounds).times { EverySchedulerHook.new.run }
GC.stress = false
puts (HOOKS & called).join(" "), HOOKS.select { |hook| Fiber.scheduler.respond_to?(hook) }.join(" ")
abort "nothing was moved" if how == "compact" && GC.stat(:compact_count).zero?
