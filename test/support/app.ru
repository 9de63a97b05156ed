# frozen_string_literal: true

# The application of the integration tests, under Rack::Lint where the SPEC covers what it does.

require "json"
require "rack"

RACK_2 = Rack.release.start_with?("2.")

# Answers each path with another kind of response.
class TestApp
  CLOSED = Queue.new
  TEXT = { "content-type" => "text/plain" }.freeze

  # Counts how often a body was closed.
  Body = Struct.new(:pieces) do
    def each(&block)
      pieces.each(&block)
    end

    def close
      CLOSED << 1
    end
  end

  FileBody = Struct.new(:to_path) do
    def each
      yield File.binread(to_path)
    end
  end

  def call(env)
    path = env["PATH_INFO"]
    name = path.delete_prefix("/").tr("-", "_")
    respond_to?(name, true) && !name.empty? ? send(name, env) : hello(env)
  end

  private

  def hello(_env)
    [200, TEXT.dup, ["Hello World"]]
  end

  def env(env)
    plain = env.select { |_, value| value.is_a?(String) }
    [200, TEXT.dup, [JSON.generate(plain)]]
  end

  def echo(env)
    body = env["rack.input"].read
    [200, TEXT.merge("x-length" => body.bytesize.to_s), [body]]
  end

  def lines(env)
    input = env["rack.input"]
    first = input.gets
    buffer = +"old"
    input.read(3, buffer)
    rest = input.each.to_a if input.respond_to?(:each) && input.method(:each).arity.zero?
    [200, TEXT.dup, [JSON.generate([first, buffer, rest || [input.read]])]]
  end

  # As a middleware may, that finds its mark again when it is called once more for the request.
  def marks_input(env)
    input = env["rack.input"]
    marks = input.instance_variables
    input.instance_variable_set(:@mark, 1)
    sleep 0.05
    [200, TEXT.dup, [marks.inspect, input.read]]
  end

  def each_piece(_env)
    [200, TEXT.dup, Body.new(%w[one two three])]
  end

  def sized(_env)
    [200, TEXT.merge("content-length" => "6"), Body.new(%w[abc def])]
  end

  def too_long(_env)
    [200, TEXT.merge("content-length" => "4"), Body.new(%w[abc def])]
  end

  def too_short(_env)
    [200, TEXT.merge("content-length" => "9"), Body.new(%w[abc def])]
  end

  def closed(_env)
    [200, TEXT.dup, [CLOSED.size.to_s]]
  end

  def big(_env)
    [200, TEXT.dup, Body.new(Enumerator.new { |pieces| 200.times { pieces << ("x" * 100_000) } })]
  end

  def file(_env)
    [200, TEXT.merge("content-length" => File.size(__FILE__).to_s), FileBody.new(__FILE__)]
  end

  def stream(_env)
    [200, TEXT.dup, lambda { |stream|
      stream << "a" << "b"
      stream.write("c")
      stream.close
    }]
  end

  def raise_error(_env)
    raise "on purpose"
  end

  def raise_late(_env)
    [200, TEXT.dup, Body.new(Enumerator.new { |pieces| pieces << "begun"; raise "late on purpose" })]
  end

  def split(_env)
    [200, { "x-evil" => "a\r\nSet-Cookie: b" }, []]
  end

  def cookies(_env)
    [200, { "set-cookie" => RACK_2 ? "a=1\nb=2" : %w[a=1 b=2] }, []]
  end

  def no_content(_env)
    [204, {}, []]
  end

  def not_modified(_env)
    [304, { "etag" => '"x"' }, []]
  end

  def hints(env)
    env["rack.early_hints"].call("link" => "</a.css>; rel=preload")
    hello(env)
  end

  def hijack(env)
    io = env["rack.hijack"].call
    io.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhijacked ")
    io.write(io.readpartial(100))
    io.close
    [0, {}, []]
  end

  def partial_hijack(_env)
    [200, TEXT.merge("rack.hijack" => lambda { |io|
      io.write("partial")
      io.close
    }), []]
  end

  def finished(env)
    status = nil
    env["rack.response_finished"] << ->(_env, number, _headers, error) { FINISHED << [number, error] }
    [200, TEXT.dup, [status.to_s]]
  end

  def finished_count(_env)
    [200, TEXT.dup, [FINISHED.size.to_s]]
  end

  def sleep_a_while(_env)
    sleep 0.5
    [200, TEXT.dup, ["slept"]]
  end

  # Until the file of the query exists.
  def held(env)
    sleep 0.01 until File.exist?(env["QUERY_STRING"])
    [200, TEXT.dup, ["released"]]
  end

  # As long, but not for ever, when nobody is left who would make the file.
  def compute(env)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 60
    50_000.times { nil } until File.exist?(env["QUERY_STRING"]) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
    [200, TEXT.dup, ["computed"]]
  end

  def stress_on(_env)
    GC.stress = true
    hello(nil)
  end

  def stress_off(_env)
    GC.stress = false
    hello(nil)
  end

  def compact(_env)
    GC.compact if GC.respond_to?(:compact)
    hello(nil)
  end

  def pid(_env)
    [200, TEXT.dup, [Process.pid.to_s]]
  end

  FINISHED = Queue.new
end

# Rack::Lint knows neither wrong lengths nor splitting, which are tested without it.
UNLINTED = %w[/too-long /too-short /split /hijack /raise-late /lines /marks-input /stress-on *].freeze
bare = TestApp.new

# Lint of Rack 2 hides that a body is an Array, whose length the server knows: the server gets the Array itself.
lint_2 = lambda do |env|
  given = nil
  response = Rack::Lint.new(->(linted_env) { given = bare.call(linted_env) }).call(env)
  response[2] = given[2] if given[2].is_a?(Array)
  response
end
linted = RACK_2 ? lint_2 : Rack::Lint.new(bare)

# Under GC.stress Lint's own allocations would take the time.
run ->(env) { (UNLINTED.include?(env["PATH_INFO"]) || (GC.respond_to?(:stress) && GC.stress) ? bare : linted).call(env) }
