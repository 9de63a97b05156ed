# frozen_string_literal: true

# An application that takes over connections, and lets go of them in its own ways.
HELD = [] # rubocop:disable Style/MutableConstant

WAYS = {
  "/hold" => ->(io) { io.write("held") },
  "/half" => lambda { |io|
    io.write("half")
    io.close_write
  },
  "/until-the-end" => ->(io) { Thread.new { io.write("#{io.read} was all") && io.close } },
  "/deaf" => lambda { |io|
    io.close_read
    io.write("deaf")
  }
}.freeze

run(lambda do |env|
  io = env["rack.hijack"].call
  HELD << io
  WAYS.fetch(env["PATH_INFO"]).call(io)
  [-1, {}, []]
rescue IOError => e
  puts e.message
  [200, {}, []]
end)
