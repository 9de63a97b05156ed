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

use Rack::Timeout, service_timeout: 1.5
run Late.new
