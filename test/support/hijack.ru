# frozen_string_literal: true

LARGE = "x" * 100_000

# An application that takes over connections.
class Hijacker
  Late = Struct.new(:env) do
    def each
      env["rack.hijack"].call
    rescue IOError => e
      yield e.message
    end
  end

  def call(env)
    send(env["PATH_INFO"].delete_prefix("/"), env)
  end

  private

  def small(_env)
    [200, {}, ["small"]]
  end

  def large(_env)
    [200, {}, [LARGE]]
  end

  def full(env)
    io = env["rack.hijack"].call
    io.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nhijacked")
    io.close
    [-1, {}, []]
  rescue IOError => e
    warn e.message
    raise
  end

  def iterates(env)
    env.each { |key, value| value.call if key == "rack.hijack" }
  rescue RuntimeError => e
    [200, {}, [e.message]]
  end

  def switch(_env)
    [101, { "connection" => "upgrade", "upgrade" => "echo" }, lambda { |io|
      io.write(io.readpartial(100)) until io.eof?
      io.close
    }]
  end

  def raises(_env)
    [200, { "rack.hijack" => lambda { |io|
      io.write("begun")
      raise "on purpose"
    } }, []]
  end

  def late(env)
    [200, {}, Late.new(env)]
  end
end

run Hijacker.new
