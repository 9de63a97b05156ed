# frozen_string_literal: true

require "net/http"
require "timeout"

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

  def runs(_env)
    `sleep 0.2; echo ran`
  end

  def pops(_env)
    queue = Queue.new
    Thread.new { sleep(0.2) && queue.push("popped") }
    queue.pop
  end

  # Asks this very server, which can only answer when this request waits as it should.
  def asks(env)
    Net::HTTP.get(URI("http://127.0.0.1:#{env["SERVER_PORT"]}/sleeps"))
  end

  def computes(_env)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 1
    nil until Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
    "computed"
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

  def fails(_env)
    sleep 0.01
    raise "on purpose"
  end
end

run Waiting.new
