# frozen_string_literal: true

# What servers are asked to do alike, each under the path that its test asks for.

require "json"
require "rack"

# A middleware that is the body of its own response.
SELF_AS_BODY = Class.new do
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, @body = @app.call(env)
    [status, headers, self]
  end

  def each(&block)
    @body.each(&block)
  end
end

def each_line_back(stream)
  while (line = stream.gets)
    stream.write(line)
    stream.flush
  end
ensure
  stream.close
end

def upgraded(body = nil, **headers)
  [101, { "upgrade" => "echo", "connection" => "upgrade", **headers }, body || []]
end

def cookies(pairs)
  Rack::Response.new.tap { |response| pairs.each { |name, value| response.set_cookie(name, value) } }.finish
end

def say_goodbye(stream)
  stream.write("Hello ")
  stream.write("World")
  stream.close
end

ANSWERS = {
  "/" => ->(_) { [200, {}, ["Hello World"]] },
  "/status" => ->(env) { [Integer(env["QUERY_STRING"]), {}, []] },
  "/echo" => ->(env) { [200, {}, [env["rack.input"].read]] },
  "/echo-each" => ->(env) { [200, {}, Enumerator.new { |out| while (piece = env["rack.input"].read(1000)) do out << piece end }] },
  "/input-as-body" => ->(env) { [200, {}, env["rack.input"]] },
  "/env" => ->(env) { [200, {}, [JSON.generate(env.select { |_, value| value.is_a?(String) })]] },
  "/headers" => ->(env) { [200, JSON.parse(env["rack.input"].read), []] },
  "/cookies" => ->(env) { cookies(JSON.parse(env["rack.input"].read)) },
  "/middleware" => SELF_AS_BODY.new(->(_) { [200, {}, %w[Hello World]] }),
  "/enumerator" => ->(_) { [200, {}, Enumerator.new { |out| 10.times { |index| out << "Hello World #{index}\n" } }] },
  "/body" => ->(_) { [200, {}, method(:say_goodbye).to_proc] },
  "/hijack" => ->(_) { [200, { "rack.hijack" => method(:say_goodbye).to_proc }, nil] },
  "/upgrade-by-body" => ->(_) { upgraded(method(:each_line_back).to_proc) },
  "/upgrade-by-hijack" => ->(_) { upgraded(nil, "rack.hijack" => method(:each_line_back).to_proc) }
}.freeze

run ->(env) { env["REQUEST_METHOD"] == "OPTIONS" ? [200, {}, ["OPTIONS #{env["PATH_INFO"]}"]] : ANSWERS.fetch(env["PATH_INFO"]).call(env) }
