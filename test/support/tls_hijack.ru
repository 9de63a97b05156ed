# frozen_string_literal: true

require "io/wait"
require "json"

$stdout.sync = true

# An application that takes over connections, and lets go of them in its own ways.
HELD = [] # rubocop:disable Style/MutableConstant

# @return [Integer] of the bytes for which there was room, while the client did not read
def fill(io)
  count = 0
  loop do
    written = io.write_nonblock("x" * 65_536, exception: false)
    break if written == :wait_writable && !io.wait_writable(1)

    count += written unless written == :wait_writable
  end
  count
end

# For as long as the block runs, in which no IO that nobody refers to any more is closed: Bundler leaves two such behind.
def without_descriptors
  GC.start
  GC.disable
  limits = Process.getrlimit(:NOFILE)
  Process.setrlimit(:NOFILE, $stderr.dup.then { |copy| copy.fileno.tap { copy.close } }, limits.last)
  yield
ensure
  Process.setrlimit(:NOFILE, *limits)
  GC.enable
end

WAYS = {
  "/hold" => ->(io) { io.write("held") },
  "/half" => lambda { |io|
    io.write("half")
    io.close_write
  },
  "/until-the-end" => ->(io) { Thread.new { io.write("#{io.read} was all") && io.close } },
  "/as-a-clients" => lambda { |io|
    options = [[Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1], [:TCP, :NODELAY, true], ["TCP", "KEEPIDLE", 75],
               [Socket::Option.int(:INET, :TCP, :NODELAY, 1)], [:SOCKET, :KEEPALIVE, true]]
    io.write(JSON.generate(set: options.map { |option| io.setsockopt(*option) }, keeps: io.getsockopt(:SOCKET, :KEEPALIVE).bool,
                           remote: io.remote_address.ip_unpack, peer: io.peeraddr(false)))
    io.close
  },
  "/leaves-much" => lambda { |io|
    puts "left #{fill(io)} bytes"
    io.close
  },
  "/without-descriptors" => ->(io) { io.write("There were some.") && io.close }, # it is told at once
  "/deaf" => lambda { |io|
    io.close_read
    io.write("deaf")
  }
}.freeze

run(lambda do |env|
  next [200, { "rack.hijack" => WAYS.fetch("/as-a-clients") }, []] if env["PATH_INFO"] == "/in-part"

  next [200, {}, [Process.pid.to_s]] if env["PATH_INFO"] == "/pid"

  io = env["PATH_INFO"] == "/without-descriptors" ? without_descriptors { env["rack.hijack"].call } : env["rack.hijack"].call
  HELD << io
  WAYS.fetch(env["PATH_INFO"]).call(io)
  [-1, {}, []]
rescue IOError => e
  puts e.message
  [200, {}, [e.message]]
end)
