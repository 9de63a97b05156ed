# frozen_string_literal: true

require "rack/timeout/base"

# What is late by sleeping, by computing, by waiting for others; and what is not late. Each path is a method's name, and each answer names the
# query of its request.
class Late
  PATIENCE = 20 # seconds

  def initialize
    @met = Queue.new
  end

  def call(env)
    name = env["PATH_INFO"].delete_prefix("/")
    send(name)
    [200, { "content-type" => "text/plain" }, ["#{name} #{env["QUERY_STRING"]}"]]
  end

  private

  def quick
    sleep 0.02
  end

  def sleeps
    sleep PATIENCE
  end

  def computes
    finish = now + PATIENCE
    nil until now > finish
  end

  def pops
    Queue.new.pop
  end

  def enumerates
    Enumerator.new { |values| sleep(PATIENCE) && (values << 1) }.next
  end

  # Three that are served at once.
  def meets
    @met << true
    sleep 0.01 until @met.size >= 3
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# What has taken long on a machine that stood still was late with good reason, whatever it does. GET /long tells the queries.
class Long
  SECONDS = 1

  def initialize(app)
    @app = app
    @queries = []
  end

  def call(env)
    return [200, { "content-type" => "text/plain" }, [@queries.join(" ")]] if env["PATH_INFO"] == "/long"

    measure(env["QUERY_STRING"]) { @app.call(env) }
  end

  private

  def measure(query)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
  ensure
    @queries << query if Process.clock_gettime(Process::CLOCK_MONOTONIC) - began > SECONDS
  end
end

use Long
use Rack::Timeout, service_timeout: 1.5
run Late.new
