# frozen_string_literal: true

require "json"

# An application that takes over connections, and lets go of them in its own ways.
HELD = [] # rubocop:disable Style/MutableConstant

WAYS = {
  "/hold" => ->(io) { io.write("held") },
  "/half" => lambda { |io|
    io.write("half")
    io.close_write
  },
  "/until-the-end" => ->(io) { Thread.new { io.write("#{io.read} was all") && io.close } },
  "/as-a-clients" => lambda { |io|
    options = [[Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1], %i[TCP NODELAY] + [true], ["TCP", "KEEPIDLE", 75],
               [Socket::Option.int(:INET, :TCP, :NODELAY, 1)], [:SOCKET, :KEEPALIVE, true]]
    io.write(JSON.generate(set: options.map { |option| io.setsockopt(*option) }, keeps: io.getsockopt(:SOCKET, :KEEPALIVE).bool,
                           remote: io.remote_address.ip_unpack, peer: io.peeraddr(false)))
    io.close
  },
  "/deaf" => lambda { |io|
    io.close_read
    io.write("deaf")
  }
}.freeze

run(lambda do |env|
  next [200, { "rack.hijack" => WAYS.fetch("/as-a-clients") }, []] if env["PATH_INFO"] == "/in-part"

  io = env["rack.hijack"].call
  HELD << io
  WAYS.fetch(env["PATH_INFO"]).call(io)
  [-1, {}, []]
rescue IOError => e
  puts e.message
  [200, {}, []]
end)
