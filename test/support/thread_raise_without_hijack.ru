# frozen_string_literal: true

# Two requests at once, in an application where nothing is hijacked; the first raises into the thread what names itself.

class Late < RuntimeError
  attr_reader :env

  def initialize(env)
    @env = env
    super("late: #{env["PATH_INFO"]}")
  end
end

without_hijack = Class.new do
  def initialize(app) = @app = app

  def call(env)
    env.delete("rack.hijack")
    @app.call(env)
  end
end
use without_hijack
both = Thread::Queue.new

run lambda { |env|
  both << env
  thread = Thread.current
  sleep(0.01) until both.size == 2
  Thread.new { thread.raise(Late.new(env)) } if env["PATH_INFO"] == "/late"
  sleep 0.5
  [200, {}, ["in time"]]
}
