# frozen_string_literal: true

# An application that ends its own threads and fibers, and bodies that go on after a piece was refused.
class Ended
  Short = Class.new do
    def each
      yield "abc"
      yield "too long"
    rescue ArgumentError
      nil
    end
  end

  Exiting = Class.new do
    def each
      yield "plain"
    end

    def close
      Thread.exit
    end
  end

  def call(env)
    send(env["PATH_INFO"].delete_prefix("/"), env)
  end

  private

  def plain(_env)
    [200, {}, ["plain"]]
  end

  def exits(_env)
    Thread.exit
  end

  def interrupts(_env)
    raise Interrupt
  end

  def exits_in_close(env)
    env["rack.response_finished"] << ->(*) { @told = true }
    [200, {}, Exiting.new]
  end

  def thread(_env)
    [200, {}, ["#{Thread.current.object_id} #{@told.inspect}"]]
  end

  # Raises into its fiber when that has long answered.
  def strikes_late(_env)
    fiber = Fiber.current
    Fiber.schedule do
      sleep 0.05
      fiber.raise("too late")
    rescue FiberError
      nil
    end
    plain(nil)
  end

  def short(_env)
    [200, { "content-length" => "5" }, Short.new]
  end

  def kills_hijacker(env)
    thread = Thread.new { env["rack.hijack"].call }
    Thread.pass until thread.stop?
    thread.kill.join
    env["rack.hijack_io"]&.close # it may have been faster
    plain(nil)
  end

  # Its writer is killed while it waits for the client.
  def kills_writer(_env)
    [200, {}, lambda { |stream|
      thread = Thread.new { loop { stream.write("x" * 100_000) } }
      sleep 0.2
      thread.kill.join
      stream.close
    }]
  end
end

run Ended.new
