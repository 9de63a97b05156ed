# frozen_string_literal: true

require "async"
require "async/barrier"
require "async/http/internet"
require "async/queue"

# What requests do with the gem async. Each path is a method's name.
class Asynchronous
  def call(env)
    [200, { "content-type" => "text/plain" }, [send(env["PATH_INFO"].delete_prefix("/"), env).to_s]]
  end

  private

  def sleeps(_env)
    sleep 0.1
    "slept"
  end

  def tasks(_env)
    Sync { |task| Array.new(3) { |i| task.async { sleep(0.1) && i } }.map(&:wait).join }
  end

  # Asks this very server, over connections that are kept for the next request.
  def asks(env)
    Sync do
      internet = (@internet ||= Async::HTTP::Internet.new)
      barrier = Async::Barrier.new
      answers = Array.new(3) { barrier.async { internet.get("http://127.0.0.1:#{env["QUERY_STRING"]}/sleeps", &:read) } }
      barrier.wait
      answers.map(&:wait).join(" ")
    end
  end

  def is_late(_env) # rubocop:disable Naming/PredicatePrefix
    Sync { |task| task.with_timeout(0.05) { sleep } }
  rescue Async::TimeoutError
    "late"
  end

  def stops(_env)
    Sync do |task|
      children = [task.async { sleep }, task.async { IO.pipe.first.read(1) }]
      sleep 0.01
      children.each(&:stop)
      "stopped" if children.all?(&:finished?)
    end
  end

  # A task that goes on after its request.
  def leaves(_env)
    Async { sleep(0.05) && (@left = "done") }
    "left"
  end

  def finds(_env)
    @left
  end

  # What is no StandardError a task lets out where the loop is turned.
  def fails(_env)
    Async { sleep(0.01) && raise(NotImplementedError, "on purpose") }
    "failing"
  end

  # One that waits for ever.
  def hangs(_env)
    Async do
      sleep
    ensure
      warn "ended at last"
    end
    "hanging"
  end
end

run Asynchronous.new
