# frozen_string_literal: true

require "socket"

LARGE = "x" * 100_000

# What a thread may want to happen to it while a socket is made.
module Failing
  def ungetbyte(*)
    Thread.current[:fails] == "unget" ? raise("on purpose") : super
  end
end
TCPSocket.prepend(Failing)

# Likewise.
module Striking
  def for_fd(*)
    thread = Thread.current
    throw(:out) if thread[:fails] == "throw"
    Process.kill("USR1", Process.pid) if thread[:fails] == "trap"
    super.tap { Thread.new { thread.raise("on purpose") }.join if thread[:fails] == "for_fd" }
  end
end
TCPSocket.singleton_class.prepend(Striking)

# An application that takes over connections.
class Hijacker
  Late = Struct.new(:env) do
    def each
      env["rack.hijack"].call
    rescue IOError => e
      yield e.message
    end
  end

  Kept = Struct.new(:io) do
    def each
      raise "the body of a hijacked request is not asked for"
    end

    def close
      io.write("closed")
      io.close
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

  # While poll(2) refuses to wait for more descriptors than a process may have.
  def without_descriptors(env)
    limits = Process.getrlimit(:NOFILE)
    Process.setrlimit(:NOFILE, 1, limits.last)
    full(env)
  ensure
    Process.setrlimit(:NOFILE, *limits)
  end

  # With a body that is to be closed, which nobody sends.
  def closes(env)
    io = env["rack.hijack"].call
    [200, {}, Kept.new(io)]
  end

  def iterates(env)
    env.each { |key, value| value.call if key == "rack.hijack" }
  rescue RuntimeError => e
    [200, {}, [e.message]]
  end

  # Whether descriptors that were opened afterwards are closed with the socket that nobody got.
  def loses(env)
    Thread.new { hijack_and_fail(env) }.join
  rescue RuntimeError => e
    files = Array.new(10) { File.open(__FILE__) }
    GC.start
    files.each(&:readline)
    warn "#{e.message}: all are open"
    raise
  end

  # As Timeout of Ruby 3.2 leaves its block.
  def throws(env)
    Thread.current[:fails] = "throw"
    catch(:out) { env["rack.hijack"].call }
    small(env)
  ensure
    Thread.current[:fails] = nil
  end

  def switch(_env)
    [101, { "connection" => "upgrade", "upgrade" => "echo" }, lambda { |io|
      io.write(io.readpartial(100)) until io.eof?
      io.close
    }]
  end

  def in_order(_env)
    [200, { "rack.hijack" => lambda { |io|
      io.write("ends #{io.getsockopt(:SOCKET, :LINGER).linger.first ? "by a reset" : "in order"}")
      io.close
    } }, []]
  end

  def raises(_env)
    [200, { "rack.hijack" => lambda { |io|
      io.write("begun")
      raise "on purpose"
    } }, []]
  end

  # Though the connection is closed already.
  def killed(_env)
    [200, { "rack.hijack" => lambda { |io|
      io.close
      Thread.current.kill
    } }, []]
  end

  # While a child process has the connection, too.
  def raises_beside_a_child(_env)
    [200, { "rack.hijack" => lambda { |_io|
      fork { sleep }
      raise "on purpose"
    } }, []]
  end

  # While a trap handler forks, whose child goes on, too.
  def trapped(env)
    trap("USR1") { fork }
    Thread.current[:fails] = "trap"
    full(env)
  ensure
    Thread.current[:fails] = nil
  end

  def hijack_and_fail(env)
    Thread.current.report_on_exception = false
    Thread.current[:fails] = env["QUERY_STRING"]
    env["rack.hijack"].call
  end

  def late(env)
    [200, {}, Late.new(env)]
  end
end

run Hijacker.new
