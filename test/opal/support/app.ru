# backtick_javascript: true
# frozen_string_literal: true

require "promise/v2"
require "rack"

# What the application of the tests on MRI, test/support/app.ru, does not do.
class Exchanges
  TEXT = { "content-type" => "text/plain" }.freeze
  MUCH = 20_000_000
  PIECE_BYTES = 65_536
  CLOSED = [] # rubocop:disable Style/MutableConstant -- what has been closed

  # Gives pieces, and fails where it is told to.
  class Body
    def initialize(*pieces, fails: nil)
      @pieces = pieces
      @fails = fails
    end

    def each
      @pieces.each { |piece| yield piece }
      raise "each on purpose" if @fails == :each
    end

    def close
      CLOSED << 1
      raise "close on purpose" if @fails == :close
    end
  end

  # Yields a piece so many times.
  Pieces = Struct.new(:times, :piece) do
    def each
      written = 0
      yield piece while (written += 1) <= times
    end
  end

  # Tells one event, and lets the client go.
  class Events
    def on_open(client)
      client.write("one")
      client.close
    end
  end

  # Tells when a client has left.
  class Stays
    def on_open(client)
      client.write("here")
    end

    def on_close(_client)
      warn "has left"
    end
  end

  def call(env)
    name = env["PATH_INFO"].delete_prefix("/").tr("-", "_")
    respond_to?(name, true) && !name.empty? ? send(name, env) : [200, TEXT.dup, ["Hello"]]
  end

  private

  # The fields of a request, sorted, one a line; values that are bytes as hexadecimal digits.
  def fields(env)
    lines = env.select { |name, value| name.match?(/\A[A-Z_]+\z/) && value.is_a?(String) }.map do |name, value|
      "#{name}=#{value.ascii_only? ? value : value.unpack1("H*")}"
    end
    [200, TEXT.dup, [lines.sort.join("\n")]]
  end

  def echo(env)
    [200, TEXT.dup, [env["rack.input"].read]]
  end

  def bytes(_env)
    [200, { "content-type" => "application/octet-stream" }, [(0..255).to_a.pack("C*")]]
  end

  def mixed(_env)
    [200, TEXT.dup, ["é", "\xFF".b, "€"]]
  end

  def text(_env)
    [200, { "content-type" => "text/plain; charset=utf-8", "x-text" => "é€" }, ["é€😀"]]
  end

  def untyped(_env)
    [200, {}, ["untyped"]]
  end

  def fails_in_each(_env)
    [200, TEXT.dup, Body.new("begun", fails: :each)]
  end

  def fails_in_close(_env)
    [200, TEXT.dup, Body.new("whole", fails: :close)]
  end

  def closed(_env)
    [200, TEXT.dup, [CLOSED.size.to_s]]
  end

  def flushes(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.write("one ")
      stream.flush
      stream.write("two")
    }]
  end

  def fails_after_flush(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.write("one ")
      stream.flush
      raise "stream on purpose"
    }]
  end

  # Goes on when this has returned.
  def promises(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.write("one ")
      PromiseV2.value(2).then { |number| stream.write("two #{number} ") }.then { stream.write("three") }
    }]
  end

  def breaks_promises(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.write("one ")
      PromiseV2.value(2).then { raise "promise on purpose" }
    }]
  end

  def much(_env)
    [200, TEXT.dup, ["x" * MUCH]]
  end

  def pieces(env)
    number = env["QUERY_STRING"]
    [200, TEXT.dup, Pieces.new(number == "endless" ? Float::INFINITY : number.to_i, "x" * PIECE_BYTES)]
  end

  def small_pieces(env)
    [200, TEXT.dup, Pieces.new(env["QUERY_STRING"].to_i, "é😀\xFF".b)]
  end

  def flushes_endlessly(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.flush
      loop { stream.write("x" * PIECE_BYTES) }
    }]
  end

  def file(_env)
    [200, TEXT.dup, Rack::Files::Iterator.new(ENV.fetch("FILE"), [], {})]
  end

  def file_at(env)
    [200, TEXT.dup, Rack::Files::Iterator.new(env["QUERY_STRING"], [], {})]
  end

  def file_with_trailer(_env)
    [200, TEXT.merge("trailer" => "x-a"), Rack::Files::Iterator.new(ENV.fetch("FILE"), [], {})]
  end

  def flushes_much(_env)
    [200, TEXT.dup, lambda { |stream|
      stream.flush
      stream.write("x" * MUCH)
    }]
  end

  # The same, when this has returned.
  def streams_much(_env)
    [200, TEXT.dup, ->(stream) { PromiseV2.value(1).then { stream.write("x" * MUCH) } }]
  end

  def flushes_small_pieces(env)
    [200, TEXT.dup, lambda { |stream|
      stream.flush
      env["QUERY_STRING"].to_i.times { stream.write("x") }
    }]
  end

  # A response that must not have the content that it flushes.
  def flushes_as(env)
    [env["QUERY_STRING"].to_i, {}, lambda { |stream|
      stream.write("none")
      stream.flush
    }]
  end

  def events(env)
    env["rack.upgrade"] = Events.new
    [200, {}, []]
  end

  def stays(env)
    env["rack.upgrade"] = Stays.new
    [200, {}, []]
  end

  # Has the only thread for a while.
  def works(_env)
    `for (const end = performance.now() + 20; performance.now() < end;);`
    [200, TEXT.dup, ["worked"]]
  end

  # Of Node: as if there were no descriptor for a connection.
  def cannot_accept(_env)
    `const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
     process._getActiveHandles().forEach(handle => { if (handle.listening) handle.emit("error", error); })`
    [200, TEXT.dup, ["told"]]
  end

  # What the clock says from now on: so many milliseconds more than it did.
  def sets_clock(env)
    `const now = Date.now, more = #{env["QUERY_STRING"].to_i}`
    `Date.now = () => now() + more`
    [200, TEXT.dup, ["set"]]
  end

  def fails(_env)
    raise "call on purpose"
  end

  def unlike(_env)
    [299, TEXT.dup, Body.new("unlike")]
  end

  def three(_env)
    "neither status nor headers"
  end

  def numbers(_env)
    [200, TEXT.dup, [1]]
  end

  def wants_close(_env)
    [200, TEXT.merge("connection" => "close"), ["bye"]]
  end
end

run Exchanges.new
