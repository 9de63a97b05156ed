# frozen_string_literal: true

require "fiddle/import"
require "net/http"
require "timeout"

# Of the C library.
module Mappings
  extend Fiddle::Importer

  PAGE = 4096
  NONE = 0
  READ = 1
  PRIVATE = 2
  ANONYMOUS = 32

  dlload Fiddle.dlopen(nil)
  extern "void *mmap(void *, size_t, int, int, int, long)"
  extern "int mprotect(void *, size_t, int)"
  extern "int munmap(void *, size_t)"
end

# What requests do that wait, or leave something behind. Each path is a method's name.
class Waiting
  def call(env)
    [200, { "content-type" => "text/plain" }, [send(env["PATH_INFO"].delete_prefix("/"), env).to_s]]
  end

  private

  def sleeps(_env)
    sleep 0.2
    "slept"
  end

  # Nothing but the time that is up lets it go on.
  def expires(_env)
    Timeout.timeout(0.2) { sleep }
  rescue Timeout::Error
    "expired"
  end

  # Until the file of the query exists, as the next three.
  def held(env)
    sleep 0.01 until File.exist?(env["QUERY_STRING"])
    "released"
  end

  def runs(env)
    tell("runs")
    `until [ -e #{env["QUERY_STRING"]} ]; do sleep 0.05; done; echo ran`
  end

  def pops(env)
    tell("pops")
    queue = Queue.new
    Thread.new { held(env) && queue.push("popped") }
    queue.pop
  end

  # Asks this very server, which can only answer when this request waits as it should.
  def asks(env)
    tell("asks")
    Net::HTTP.get(URI("http://127.0.0.1:#{env["SERVER_PORT"]}/held?#{env["QUERY_STRING"]}"))
  end

  def tell(what)
    $stdout.sync = true
    $stdout.puts("#{what} now")
  end

  def tells(_env)
    $stdout.sync = true
    20.times { $stdout.puts("told" * 3) }
    "told"
  end

  # Until the file of the query exists, but not for ever.
  def computes(env)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    50_000.times { nil } until File.exist?(env["QUERY_STRING"]) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
    "computed"
  end

  # How many requests for /counts were served between two of its short waits, at most; of 64.
  def ticks(_env)
    @counted = 0
    tell("ticks")
    counts = [0]
    while counts.last < 64
      sleep 0.01
      counts << @counted
    end
    counts.each_cons(2).map { |one, other| other - one }.max
  end

  def counts(_env)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.005
    nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    @counted += 1
  end

  def finds(_env)
    found = [Thread.current[:left], Fiber.current.instance_variable_get(:@left), (Fiber[:left] if Fiber.respond_to?(:[]))]
    Thread.current[:left] = Fiber.current.instance_variable_set(:@left, "left")
    Fiber[:left] = "left" if Fiber.respond_to?(:[]=)
    found.compact.inspect
  end

  def litters(env)
    finds(env)
    Fiber.current.object_id
  end

  def schedules(_env)
    order = []
    Fiber.schedule do
      order << "first"
      sleep 0.01
      order << "third"
    end
    order << "second"
    sleep 0.05
    order.join(" ")
  end

  # Leaves no room for another stack: of as many memory mappings as a process may have, each takes two.
  def fills(_env)
    Array.new(200_000) { +"" } # so that Ruby's heap, which cannot grow then, has free slots
    count = Integer(File.read("/proc/sys/vm/max_map_count"))
    @mappings = Mappings.mmap(nil, count * Mappings::PAGE, Mappings::NONE, Mappings::PRIVATE | Mappings::ANONYMOUS, -1, 0)
    pages = (0...count).step(2).lazy.map { |page| @mappings + (page * Mappings::PAGE) }
    pages.find { |page| Mappings.mprotect(page, Mappings::PAGE, Mappings::READ).negative? } && "full"
  end

  def empties(_env)
    Mappings.munmap(@mappings, Integer(File.read("/proc/sys/vm/max_map_count")) * Mappings::PAGE).zero? && "empty"
  end

  # What Ruby never lets go on again.
  def resumes(_env)
    100.times.map { Fiber.new { Fiber.yield }.tap(&:resume) } # more than have a stack in reserve
  rescue FiberError => e
    e.message
  end

  def unsets(_env)
    scheduler = Fiber.scheduler
    attempts = [-> { Fiber.set_scheduler(nil) }, -> { Fiber.set_scheduler(Upwell::Scheduler.new) }, -> { scheduler.close }]
    attempts.map { |attempt| refused?(attempt) && Fiber.scheduler == scheduler }.inspect
  end

  def sets(_env)
    thread = Thread.new { Fiber.set_scheduler(Upwell::Scheduler.new).then { |scheduler| Fiber.set_scheduler(nil) || scheduler.closed? } }
    child = fork { exit!(Fiber.set_scheduler(nil).nil?) }
    [thread.value, Process.wait2(child).last.success?].inspect
  end

  def rests(_env)
    @rests = Fiber.current
    "rested"
  end

  def raises_late(env)
    one_that_rests(env).raise("too late")
    "went on"
  end

  def kills_late(env)
    one_that_rests(env).kill # Ruby 3.3
    "went on"
  end

  # Another fiber than this one, of which nobody asks anything any more.
  def one_that_rests(env)
    Net::HTTP.get(URI("http://127.0.0.1:#{env["SERVER_PORT"]}/rests"))
    @rests
  end

  def hears(_env)
    @hearing = Fiber.current
    sleep(10)
  rescue RuntimeError => e
    e.message
  end

  # In another request, from within a fiber of its own.
  def raises_within(_env)
    sleep(0.01) until @hearing
    Fiber.new { @hearing.raise("heard") }.resume.inspect
  end

  def expires_soon(_env)
    Timeout.timeout(0.2) { sleep(1) && "too late" }
  rescue Timeout::Error
    "in time"
  end

  # Nobody refers to this fiber any more, but for the server.
  def loses_itself(_env)
    Fiber.new { sleep }.transfer
  end

  # And the stacks of those that are gone are used again.
  def collects(_env)
    4.times { GC.start }
    Array.new(100) { Fiber.new { Fiber.yield([1] * 100) }.tap(&:resume) }.size
  end

  # Who is meant is looked for among all requests.
  def looks_through(_env)
    thread = Thread.current
    Thread.new { thread.raise("on purpose") }.join
    "looked"
  end

  def fails(_env)
    sleep 0.01
    raise "on purpose"
  end

  def refused?(attempt)
    attempt.call && false
  rescue Upwell::Error
    true
  end
end

run Waiting.new
