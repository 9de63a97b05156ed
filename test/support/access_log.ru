# frozen_string_literal: true

# Responses of each kind, for the access log.

Dir.mkdir(ENV.fetch("FOLDER")) unless Dir.exist?(ENV.fetch("FOLDER"))
FILE = File.join(ENV.fetch("FOLDER"), "sent")
File.write(FILE, "of a file")

FileBody = Struct.new(:to_path) do
  def each
    yield File.read(to_path)
  end
end

module Silent
  def self.on_open(client); end
end

Breaking = Class.new do
  def each
    yield "begun"
    raise "on purpose"
  end
end

# Whether a person wants the answer is not known while this waits.
def abandoned(env)
  File.read(File.join(ENV.fetch("FOLDER"), "fifo"))
  sleep 0.02
  [200, {}, [env["upwell.request_id"]]]
end

def hijacked(env)
  env["rack.hijack"].call.tap do |io|
    io.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    io.close
  end
  [-1, {}, []]
end

def upgraded(env)
  env["rack.upgrade"] = Silent
  [200, {}, []]
end

PARTLY = lambda do |io|
  io.write("raw")
  io.close
end

ANSWERS = {
  "/text" => ->(_env) { [200, { "content-type" => "text/plain" }, ["text"]] },
  "/none" => ->(_env) { [204, {}, []] },
  "/same" => ->(_env) { [304, {}, []] },
  "/pieces" => ->(_env) { [200, {}, Enumerator.new { |pieces| 3.times { pieces << "piece" } }] },
  "/called" => ->(_env) { [200, {}, ->(stream) { stream.write("called") && stream.close }] },
  "/file" => ->(_env) { [200, {}, FileBody.new(FILE)] },
  "/echo" => ->(env) { [201, {}, [env["rack.input"].read]] },
  "/raises" => ->(_env) { raise "on purpose" },
  "/breaks" => ->(_env) { [200, {}, Breaking.new] },
  "/hijacked" => method(:hijacked),
  "/partly" => ->(_env) { [200, { "rack.hijack" => PARTLY }, []] },
  "/upgraded" => method(:upgraded),
  "/abandoned" => method(:abandoned),
  "/ids" => ->(env) { [200, {}, [env.values_at("upwell.request_id", "HTTP_X_REQUEST_ID").uniq.join(" ")]] },
  "/changes_id" => ->(env) { [200, {}, ["#{env["HTTP_X_REQUEST_ID"] << "x"} #{env["upwell.request_id"]}"]] },
  "/large_file" => ->(_env) { [200, {}, FileBody.new(File.join(ENV.fetch("FOLDER"), "..", "large"))] },
  "/large_pieces" => ->(_env) { [200, {}, Enumerator.new { |pieces| 64.times { pieces << ("x" * (1024 * 1024)) } }] },
  "/sleeps" => ->(_env) { sleep(0.05) && [200, {}, []] }
}.freeze

run ->(env) { ANSWERS.fetch(env["PATH_INFO"], ANSWERS["/text"]).call(env) }
