# frozen_string_literal: true

require "timeout"

# Exceptions that other threads raise into the thread that serves, at any time. Each path is a method's name.
class Raised
  class Struck < Exception; end # rubocop:disable Lint/InheritException

  # Tells whose it is.
  class Late < StandardError
    attr_reader :env

    def initialize(env)
      super("late")
      @env = env
    end
  end

  # Takes what it is given beside its cause.
  class Described < StandardError
    attr_reader :description

    def initialize(description = nil)
      super("described")
      @description = description
    end
  end

  def initialize
    @threads = {}
    @random = Random.new(1)
    @met = Queue.new
  end

  def call(env)
    @threads[Thread.current] = true
    Thread.current[:env] = env
    name = env["PATH_INFO"].delete_prefix("/")
    body = send(name, env["QUERY_STRING"])
    [200, { "content-type" => "text/plain" }, body || ["#{name} #{env["QUERY_STRING"]}"]]
  end

  private

  # Raises, for so many seconds, into all threads that serve.
  def strikes(seconds)
    finish = now + Float(seconds)
    @striker = Thread.new { strike while now < finish }
    nil
  end

  def calms_down(_query)
    @striker.join && nil
  end

  def strike
    sleep(@random.rand * 0.002)
    @threads.keys.sample(random: @random).raise(@random.rand < 0.5 ? Struck : "struck")
  end

  # Into its own thread when this request has long been answered.
  def strikes_later(_query, error = RuntimeError)
    thread = Thread.current
    Thread.new { sleep(0.1) && thread.raise(error, "too late") }
    nil
  end

  def times_out_late(query)
    strikes_later(query, Timeout::Error)
  end

  def strikes_itself(_query)
    thread = Thread.current
    Thread.new { thread.raise(KeyError, "for whom it runs") }
    computes(1)
  end

  # Tells the cause, whether it computes or waits when it is struck.
  def hears_why(query)
    thread = Thread.current
    env = thread[:env]
    Thread.new { sleep(0.05) && raise_because(KeyError.new("why"), thread, env, rescued: query.end_with?("rescued")) }
    query.start_with?("computes") ? computes(5) : sleep(5)
  rescue Late => e
    ["#{e.message}, #{e.cause.inspect}"]
  end

  def raise_because(cause, thread, env, rescued:)
    return thread.raise(Late, env, cause: cause) unless rescued

    begin
      raise cause
    rescue KeyError
      thread.raise(Late, env)
    end
  end

  # As by Kernel#raise: the keywords but the cause are the exception's.
  def hears_keywords(_query)
    thread = Thread.current
    Thread.new { thread.raise(Described, key: 1, cause: KeyError.new("why")) }
    computes(5)
  rescue Described => e
    ["#{e.description.to_a}, #{e.cause.inspect}"]
  end

  # As one that waits for a connection of a pool, and then lets in what was raised meanwhile.
  def masks(_query)
    lambda { |stream|
      Thread.handle_interrupt(Exception => :never) do
        200.times { stream.write("m" * 100_000) } # more than the kernel takes without a reader
        Thread.handle_interrupt(Exception => :immediate) { Thread.pass }
      end
      stream.close
    }
  end

  # Ruby raises nothing while it computes, where another request masks interrupts.
  def computes_struck(_query)
    thread = Thread.current
    striker = Thread.new { thread.raise(KeyError, "for whom it runs") }
    nil while striker.alive?
  end

  def waits_struck(query)
    computes_struck(query)
    sleeps(query)
  end

  def ends_itself(_query)
    thread = Thread.current
    Thread.new { thread.raise(SystemExit) }
    sleep
  end

  def kills_itself(_query)
    thread = Thread.current
    Thread.new { thread.kill }
    sleep
  end

  def computes(seconds)
    finish = now + Float(seconds)
    nil until now > finish
  end

  def sleeps(_query)
    sleep 0.002
    nil
  end

  def pops(_query)
    queue = Queue.new
    Thread.new { queue << true }
    queue.pop && nil
  end

  def enumerates(_query)
    values = Enumerator.new { |yielder| 3.times { |i| sleep(0.0005) && (yielder << i) } }
    3.times { values.next } && nil
  end

  def expires(_query)
    Timeout.timeout(0.001) { sleep }
  rescue Timeout::Error
    nil
  end

  def schedules(_query)
    Fiber.schedule { sleep(0.001) } if Fiber.scheduler
    nil
  end

  def streams(query)
    Enumerator.new { |chunks| 5.times { sleep(0.0005) && (chunks << "streams ") } && (chunks << query) }
  end

  # As many as the query says that are served at once.
  def meets(query)
    @met << true
    sleep 0.005 until @met.size >= Integer(query)
    nil
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

$stderr.reopen(ENV.fetch("LOG"), "w") # there is more than fits into a pipe
trap("WINCH") { raise KeyError, "by a trap handler" }
run Raised.new
