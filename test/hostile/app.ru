# frozen_string_literal: true

# What an application may do with a request, for clients that do not care.

PIECE = "x" * 3000
BIG = ("y" * 65_536).freeze
FILE = File.expand_path("../../README.md", __dir__)

# A body of a file, which the server sends itself.
FileBody = Struct.new(:to_path) do
  def each
    yield File.binread(to_path)
  end
end

# What response_finished calls.
TOLD = ->(*) { GC.start if rand(50).zero? }

def write_on_thread(stream)
  Thread.new do
    stream.write(PIECE)
  rescue SystemCallError, IOError
    nil # the client is gone
  end.join
end

ACTIONS = {
  "/probe" => ->(_env) { [200, {}, ["alive"]] },
  "/collect" => ->(_env) { GC.start || [200, {}, ["collected"]] },
  "/echo" => ->(env) { [200, {}, [env["rack.input"].read.to_s]] },
  "/lines" => ->(env) { [200, {}, [env["rack.input"].each.map(&:size).sum.to_s]] },
  "/big" => ->(_env) { [200, { "content-length" => (BIG.bytesize * 20).to_s }, [BIG] * 20] },
  "/file" => ->(_env) { [200, {}, FileBody.new(FILE)] },
  "/each" => ->(_env) { [200, {}, Enumerator.new { |pieces| 100.times { pieces << PIECE } }] },
  "/stream" => ->(_env) { [200, {}, ->(stream) { 50.times { stream.write(PIECE) } && stream.close }] },
  "/duplex" => ->(_env) { [200, {}, ->(stream) { stream.write(stream.read.to_s) && stream.close }] },
  "/thread" => ->(_env) { [200, {}, ->(stream) { write_on_thread(stream) && stream.close }] },
  "/hijack" => lambda do |env|
    io = env["rack.hijack"].call
    io.write_nonblock("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhijacked", exception: false)
    io.close
    [200, {}, []]
  end,
  "/partial" => ->(_env) { [200, { "rack.hijack" => ->(io) { io.write("partial") && io.close } }, []] },
  "/hints" => ->(env) { env["rack.early_hints"].call("link" => "</a.css>") || [200, {}, ["hinted"]] },
  "/finished" => ->(env) { (env["rack.response_finished"] ||= []).push(TOLD) && [200, {}, ["finished"]] },
  "/raise" => ->(_env) { raise "on purpose" },
  "/raise-late" => ->(_env) { [200, {}, Enumerator.new { |pieces| (pieces << PIECE) && raise("on purpose, late") }] },
  "/wrong-length" => ->(_env) { [200, { "content-length" => "5" }, %w[four teen]] },
  "/no-response" => ->(_env) {},
  "/sleep" => ->(_env) { sleep(0.003) && [200, {}, ["slept"]] }
}.freeze
NOTHING = ->(_env) { [404, {}, ["nothing"]] }

run ->(env) { ACTIONS.fetch(env["PATH_INFO"], NOTHING).call(env) }
