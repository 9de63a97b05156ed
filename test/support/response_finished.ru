# frozen_string_literal: true

require "timeout"

# What env["rack.response_finished"] is told, when, and where.
class Finishing
  TOLD = Queue.new

  class Late < Timeout::Error; end

  def self.wait(name, error)
    Timeout.timeout(0.05, error) { sleep 3 }
    TOLD << "#{name} waited"
  rescue error => e
    TOLD << "#{name} #{e.class}"
  end

  def call(env)
    send(env["PATH_INFO"].delete_prefix("/").tr("-", "_"), env)
  end

  private

  def told(_env)
    [200, {}, [Array.new(TOLD.size) { TOLD.pop }.join("\n")]]
  end

  def tell(env, name)
    thread = Thread.current
    fiber = Fiber.current
    env["rack.response_finished"] << lambda { |same, status, headers, error|
      here = thread == Thread.current && fiber == Fiber.current && same.equal?(env)
      TOLD << [name, here, status, headers && headers["x-name"], error.class].join(" ")
    }
  end

  def whole(env)
    tell(env, "first")
    tell(env, "last")
    [200, { "x-name" => "whole" }, ["whole"]]
  end

  def raises(env)
    tell(env, "raises")
    raise "on purpose"
  end

  def raises_in_callback(env)
    tell(env, "others")
    env["rack.response_finished"] << ->(*) { raise "in the callback" }
    [200, { "x-name" => "callback" }, ["whole"]]
  end

  def endless(env)
    tell(env, "endless")
    body = Object.new
    body.define_singleton_method(:each) { |&block| loop { block.call("x" * 65_536) } }
    [200, { "x-name" => "endless" }, body]
  end

  def times_out(env)
    body = ["whole"]
    body.define_singleton_method(:close) { Finishing.wait("close", KeyError) }
    env["rack.response_finished"] << ->(*) { Finishing.wait("callback", Late) }
    [200, {}, body]
  end

  # The client has its response before.
  def slow_callback(env)
    env["rack.response_finished"] << lambda { |*|
      sleep 0.5
      warn "the slow callback has ended"
    }
    [200, {}, ["at once"]]
  end

  # Goes on when there is the file that the query names.
  def held_callback(env)
    env["rack.response_finished"] << lambda { |*|
      sleep 0.01 until File.exist?(env["QUERY_STRING"])
      TOLD << "held"
    }
    [200, {}, ["at once"]]
  end

  # Keeps its connection until the client leaves.
  def session(_env)
    [200, { "rack.hijack" => lambda { |io|
      io.write("session")
      io.read
    } }, []]
  end

  def hijacked(env)
    tell(env, "hijacked")
    env["rack.hijack"].call.close
    [-1, {}, []]
  end
end

run Finishing.new
