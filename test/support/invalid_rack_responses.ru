# frozen_string_literal: true

# Answers as an application should not, or only just may: each path with the response that RESPONSES has for it.

require "timeout"

# A body that does with the block what it was made for.
Pieces = Struct.new(:producer) do
  def each(&block)
    producer.call(block)
  end
end

FileNamed = Struct.new(:to_path) do
  def each
    yield "from each"
  end
end

def text(headers = {}, body = ["abc"], status = 200)
  [status, { "content-type" => "text/plain", **headers }, body]
end

def pieces(*strings)
  Pieces.new(->(block) { strings.each(&block) })
end

def closing(body, &close)
  body.define_singleton_method(:close, &close)
  body
end

LATE = Queue.new

def late_error
  yield
  "none"
rescue IOError => e
  e.message
end

RESPONSES = {
  "/hello" => ->(_) { text },
  "/name-with-blank" => ->(_) { text("bad name" => "x") },
  "/name-empty" => ->(_) { text("" => "x") },
  "/value-with-control-byte" => ->(_) { text("x" => "a\u0001b") },
  "/value-with-delete" => ->(_) { text("x" => "a\u007Fb") },
  "/value-utf-8" => ->(_) { text("x" => "caf\u00E9\t!") },
  "/value-nil" => ->(_) { text("x" => nil, "content-length" => nil) },
  "/value-large" => ->(_) { text("x" => "v" * 200_000) },
  "/status" => ->(env) { text({}, ["abc"], Integer(env["QUERY_STRING"])) },
  "/status-text" => ->(_) { text({}, ["abc"], "201") },
  "/length" => ->(env) { text("content-length" => env["QUERY_STRING"]) },
  "/length-array" => ->(_) { text("content-length" => ["3"]) },
  "/204" => ->(_) { [204, { "content-length" => "3", "transfer-encoding" => "chunked" }, ["abc"]] },
  "/304" => ->(_) { [304, { "content-length" => "3" }, pieces("abc")] },
  "/connection" => ->(env) { text("connection" => env["QUERY_STRING"].split("&")) },
  "/upgrade-required" => ->(_) { text({ "upgrade" => "h2c", "connection" => "upgrade" }, ["abc"], 426) },
  "/coding-right" => ->(_) { text({ "transfer-encoding" => "chunked" }, pieces("3\r\nabc\r\n", "0\r\n\r\n")) },
  "/coding-wrong" => ->(_) { text("transfer-encoding" => "chunked", "content-length" => "3") },
  "/coding-other" => ->(_) { text("transfer-encoding" => "gzip") },
  "/nil" => ->(_) {},
  "/two-values" => ->(_) { [200, {}] },
  "/string" => ->(_) { "abc" },
  "/body-number" => ->(_) { text({}, 1) },
  "/body-nil" => ->(_) { text({}, nil) },
  "/date" => ->(_) { text("date" => "Sun, 06 Nov 1994 08:49:37 GMT") },
  "/raise-late" => ->(_) { text({}, Pieces.new(->(block) { block.call("begun"); raise "on purpose" })) },
  "/raise-late-sized" => ->(_) { text({ "content-length" => "9" }, Pieces.new(->(block) { block.call("begun"); raise "on purpose" })) },
  "/raise-first" => ->(_) { text({}, Pieces.new(->(_block) { raise "on purpose" })) },
  "/not-a-string" => ->(_) { text({}, pieces(1)) },
  "/not-a-string-late" => ->(_) { text({}, pieces("a", nil)) },
  "/not-a-string-in-array" => ->(_) { text({}, ["a", nil]) },
  "/close-raises" => ->(_) { text({}, closing(pieces("abc")) { raise "on purpose" }) },
  "/file" => ->(_) { text({}, FileNamed.new(__FILE__)) },
  "/file-missing" => ->(_) { text({}, FileNamed.new("/nonexistent")) },
  "/file-nil" => ->(_) { text({ "content-length" => "9" }, FileNamed.new(nil)) },
  "/file-of-other-length" => ->(_) { text({ "content-length" => "9" }, FileNamed.new(__FILE__)) },
  "/folder" => ->(_) { text({}, FileNamed.new(__dir__)) },
  "/keep" => lambda { |env|
    KEPT.replace(env)
    env["SERVER_NAME"] = env["HTTP_X_NEW"] = "leaked"
    text
  },
  "/use-kept" => ->(_) { text({}, [KEPT["rack.input"].read.to_s]) },
  "/call-kept" => ->(_) { text({}, [KEPT["rack.early_hints"].call({}).to_s]) },
  # The block is called once more when `each` has returned.
  "/block-kept" => ->(_) { text({}, Pieces.new(->(block) { block.call("abc"); LATE << block })) },
  "/call-block-kept" => ->(_) { text({}, [late_error { LATE.pop.call("late") }]) },
  "/other-thread" => ->(_) { text({}, Pieces.new(->(block) { block.call(late_error { Thread.new { block.call("other") }.join }) })) },
  # Another thread still waits for the client when `each` returns.
  "/other-thread-waits" => lambda { |_|
    text({}, Pieces.new(lambda { |block|
      block.call("x")
      writer = Thread.new { 20.times { block.call("y" * 1_000_000) } }
      Thread.pass until writer.stop?
    }))
  },
  # In mode inline nobody waits.
  "/expires-writing" => lambda { |_|
    text({}, Pieces.new(->(block) { Timeout.timeout(0.2) { 20.times { block.call("y" * 1_000_000) } } }))
  },
  "/env" => ->(env) { text({}, [env.map { |name, value| "#{name}: #{value}\n" }.join]) },
  "/hints-wrong" => lambda { |env|
    begin
      env["rack.early_hints"].call("link" => "</a>", "bad name" => "x")
    rescue ArgumentError => e
      text({}, [e.message])
    end
  },
  "/hints-framing" => lambda { |env|
    env["rack.early_hints"].call("link" => "</a>", "transfer-encoding" => "chunked", "content-length" => "3", "connection" => "close")
    text
  },
  "/greedy-buffer" => lambda { |env|
    input = env["rack.input"]
    buffer = Object.new
    buffer.define_singleton_method(:to_str) { input.read }
    text({}, [input.read(5, buffer).inspect])
  }
}.freeze
KEPT = {} # rubocop:disable Style/MutableConstant -- what an application keeps too long

run ->(env) { RESPONSES.fetch(env["PATH_INFO"], RESPONSES["/env"]).call(env) }
