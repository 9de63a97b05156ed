# frozen_string_literal: true

require "socket"

# Requests whose fibers are killed (Fiber#kill of Ruby 3.3), where the path says.
class Killed
  # Kills its fiber in the method of which it is told.
  class Body
    def initialize(place)
      @place = place
    end

    def each
      yield "first "
      Fiber.current.kill if @place == "each"
      yield "second"
    end

    def close
      Fiber.current.kill if @place == "close"
    end
  end

  def initialize
    @ensured = Queue.new
  end

  def call(env)
    answer(env["PATH_INFO"].delete_prefix("/"), env)
  ensure
    @ensured << true if env["PATH_INFO"] == "/ensures"
  end

  private

  def answer(place, env)
    case place
    when "ensured" then [200, {}, [@ensured.pop.to_s]]
    when "each", "close" then [200, {}, Body.new(place)]
    when "finished" then [200, {}, ["finished"]].tap { env["rack.response_finished"] << ->(*) { Fiber.current.kill } }
    when "hijacker" then [200, { "rack.hijack" => ->(_io) { Fiber.current.kill } }, []]
    else [200, {}, [send(place, env)]]
    end
  end

  def sleeps(_env)
    sleep 0.05
    "slept"
  end

  def kills_itself(_env)
    Fiber.current.kill
  end

  # What an ensure clause waits for, it does not get: Ruby kills the fiber again.
  def ensures(_env)
    kill_soon
    sleep
  ensure
    sleep 0.01
  end

  def reads(_env)
    kill_soon
    UNIXSocket.pair.first.read
  end

  def locks(_env)
    kill_soon
    Mutex.new.synchronize { Thread.new { sleep }.join }
  end

  def hints(env)
    headers = Class.new { define_method(:each) { |&_block| Fiber.current.kill } }
    env["rack.early_hints"].call(headers.new)
  end

  # A thread of the application is about to hijack, which the end of the request waits for.
  def awaits_user(env)
    kill_soon
    Thread.new { env["rack.hijack"].call.close }
    Thread.pass
    Fiber.current.kill
  end

  # As a deadline of the application's own.
  def kill_soon
    fiber = Fiber.current
    Fiber.schedule do
      sleep 0.01
      fiber.kill
    end
  end
end

run Killed.new
