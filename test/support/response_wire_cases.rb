# frozen_string_literal: true

require "pathname"
require "stringio"

# What applications answer that they should not, or only just may, each with what its client must see of it: the words of
# WireTrace. Where the modes differ it is a Hash by mode, and where several ways are right a Regexp.
module ResponseWireCases
  # closes: how often the body must have been closed; head, absent: what the head must and must not match
  Case = Struct.new(:wire, :app, :request, :verb, :version, :closes, :head, :absent, keyword_init: true)

  CASES = {} # rubocop:disable Style/MutableConstant -- filled below
  CLOSED = Hash.new(0)
  KEPT = {} # rubocop:disable Style/MutableConstant -- of the last plain response

  # A body that does with the block what it was made for, and counts how often it is closed.
  Pieces = Struct.new(:name, :producer) do
    def each(&block)
      producer.call(block)
    end

    def close
      CLOSED[name] += 1
    end
  end

  class Says
    def initialize(&said)
      define_singleton_method(:to_s, &said)
    end
  end

  # What the responses are made with.
  module Words
    module_function

    def text(headers = {}, body = ["abc"], status = 200)
      [status, { "content-type" => "text/plain", **headers }, body]
    end

    # A response whose body is what the block does with the block of `each`.
    def pieces(env, headers = {}, status = 200, &producer)
      text(headers, Pieces.new(env["odd.name"], producer), status)
    end

    def hint(env)
      env["rack.early_hints"].call("link" => "</a>")
    end

    # @return [Object] the value of the block, or the message of its IOError
    def refused
      yield
    rescue IOError => e
      e.message
    end

    # In another thread, which is waited for.
    def aside(&block)
      Thread.new do
        Thread.current.report_on_exception = false
        block.call
      end.value
    end

    def take(env, bytes = "raw")
      io = env["rack.hijack"].call
      io.write(bytes)
      io.close
      [0, {}, []]
    end

    def with(object, **methods)
      methods.each { |name, body| object.define_singleton_method(name, &body) }
      object
    end
  end

  class << self
    include Words

    def odd(name, wire, **more, &app)
      raise "#{name} comes twice" if CASES.key?(name)

      CASES[name] = Case.new(wire: wire, app: app, verb: "GET", version: "1.1", **more)
    end

    # What is kept of it is used by others when it is long over.
    def plain
      odd("a plain response", "200 abc, next") { |env| text({}, ->(stream) { KEPT.replace(env: env, stream: stream); stream << "abc" }) }
    end

    def shapes
      { "nothing" => nil, "an empty Array" => [], "a status alone" => [200], "no body" => [200, {}], "four things" => [200, {}, [], 1],
        "a String" => "abc", "a Hash" => { 200 => [] }, "a number" => 200 }.each { |name, value| odd("#{name} as a response", FAILS) { value } }
      odd("what becomes an Array", "200 abc, next") { |_| with(Object.new, to_ary: -> { [200, {}, ["abc"]] }) }
      odd("what fails to become an Array", FAILS) { |_| with(Object.new, to_ary: -> { raise "on purpose" }) }
      odd("a frozen response", "200 abc, next") { |_| [200, {}.freeze, ["abc"].freeze].freeze }
      odd("a subclass of Array", "200 abc, next") { |_| Class.new(Array).new([200, {}, ["abc"]]) }
    end

    def statuses
      [nil, :ok, true, "", "abc", -1, 0, 99, 100, 102, 103, 199, 1000, 2**70, Float::NAN, Object.new].each do |status|
        odd("status #{status.instance_of?(Object) ? "of no number" : status.inspect}", FAILS) do
          text({}, ["abc"], status)
        end
      end
      { "200" => "200", "200 OK" => "200", 200.9 => "200", 299 => "299", 999 => "999" }.each do |status, seen|
        odd("status #{status.inspect}", "#{seen} abc, next") { text({}, ["abc"], status) }
      end
      odd("a status that raises", FAILS) { text({}, ["abc"], with(Object.new, to_i: -> { raise "on purpose" })) }
      odd("a status that is no number after all", FAILS) { text({}, ["abc"], with(Object.new, to_i: -> { "abc" })) }
    end

    def header_names
      { "bad name" => "x", "" => "x", "a:b" => "x", "caf\u00E9" => "x", "a\r\nb" => "x", "a\u0000" => "x", nil => "x" }.each do |name, value|
        odd("header name #{name.inspect}", FAILS) { text(name => value) }
      end
      odd("a Symbol as header name", "200 abc, next", head: /^x-a: b\r$/) { text("x-a": "b") }
      odd("a number as header name", "200 abc, next", head: /^7: b\r$/) { text(7 => "b") }
      odd("a header name of rack's", "200 abc, next", absent: /rack/) { text("rack.secret" => "b") }
      odd("a header name that raises", FAILS) { text(Says.new { raise "on purpose" } => "b") }
    end

    def header_values
      ["a\r\nb", "a\nb", "a\u0000", "a\u007F"].each do |value|
        odd("header value #{value.inspect}", FAILS) { RACK_2 ? text("x" => value.tr("\n", "\r")) : text("x" => value) }
      end
      odd("a header value of UTF-16", FAILS) { text("x" => "ab".encode("UTF-16LE")) }
      odd("a header value of nothing", "200 abc, next", absent: /^x:/) { text("x" => nil) }
      odd("an empty header value", "200 abc, next", head: /^x: \r$/) { text("x" => "") }
      odd("a number as header value", "200 abc, next", head: /^x: 7\r$/) { text("x" => 7) }
      odd("a Symbol as header value", "200 abc, next", head: /^x: y\r$/) { text("x" => :y) }
      odd("an Array as header value", "200 abc, next", head: /^x: a\r\nx: b\r$/) { text("x" => %w[a b]) }
      odd("an Array of nothing as header value", "200 abc, next", absent: /^x:/) { text("x" => []) }
      odd("a frozen header value", "200 abc, next", head: /^x: y\r$/) { text("x" => "y") }
      odd("a header value of binary bytes", "200 abc, next", head: /^x: \xFF\r$/n) { text("x" => "\xFF".b) }
      odd("a header value that raises", FAILS) { text("x" => Says.new { raise "on purpose" }) }
      odd("a header value that is no text", "200 abc, next", head: /^x: #<ResponseWireCases::Says/) { text("x" => Says.new { 7 }) }
      odd("a header value that throws", FAILS) { text("x" => Says.new { throw :nobody }) }
      odd("a header value that adds a header", FAILS) do
        headers = {}
        headers["x"] = Says.new { headers["y"] = "z" }
        text.tap { |response| response[1] = headers }
      end
      odd("a header value that hints", /\A(103 link=<\/a>, )?200 abc, next\z/, head: /^x: y\r\nz: last\r$/) do |env|
        text("x" => Says.new { Words.hint(env); "y" }, "z" => "last")
      end
      odd("a header value that hijacks", /\A(raw "raw", closed|500 .*, next)\z/m) do |env|
        text("a" => "b", "x" => Says.new { Words.take(env); "y" })
      end
      odd("a header value that collects", "200 abc, next", head: /^x: y\r$/) { text("x" => Says.new { GC.start; GC.compact; "y" }) }
    end

    def header_collections
      odd("nothing as headers", FAILS) { [200, nil, ["abc"]] }
      odd("a String as headers", FAILS) { [200, "a: b", ["abc"]] }
      odd("a number as headers", FAILS) { [200, 7, ["abc"]] }
      odd("pairs as headers", "200 abc, next", head: /^x: y\r$/) { [200, [%w[x y]], ["abc"]] }
      odd("headers that yield two", "200 abc, next", head: /^x: y\r$/) do
        [200, with(Object.new, each: ->(&block) { block.call("x", "y") }), ["abc"]]
      end
      odd("headers that yield three", FAILS) { [200, with(Object.new, each: ->(&block) { block.call("x", "y", "z") }), ["abc"]] }
      odd("headers that raise", FAILS) { [200, with(Object.new, each: ->(&) { raise "on purpose" }), ["abc"]] }
      odd("headers of 200 lines", "200 abc, next") { text((1..200).to_h { |number| ["x-#{number}", "v"] }) }
      odd("a header twice in other letters", "200 abc, next") { text("Content-Length" => "3", "content-length" => "3") }
      odd("trailers announced", "200 abc, next", head: /^trailer: x\r$/) { text("trailer" => "x") }
    end

    def framings
      %w[2 4 -3 3.0 +3 0x3 abc 3,3 99999999999999999999].each do |length|
        odd("content-length #{length} of an Array of 3 bytes", FAILS) { text("content-length" => length) }
      end
      odd("a number as content-length", "200 abc, next") { text("content-length" => 3) }
      odd("too long at once", FAILS) { |env| pieces(env, "content-length" => "2") { |out| out.call("abc") } }
      odd("too long in the end", "200 ab, closed") { |env| pieces(env, "content-length" => "2") { |out| out.call("ab"); out.call("c") } }
      odd("too short", "200 ab cut, closed") { |env| pieces(env, "content-length" => "3") { |out| out.call("ab") } }
      odd("nothing where content was promised", /\A(500 .*, next|200  cut, closed)\z/m) { |env| pieces(env, "content-length" => "3") { nil } }
      odd("an empty body of each", "200, next") { |env| pieces(env) { nil } }
      odd("a coding of the application's", "200 abc, closed") do |env|
        pieces(env, "transfer-encoding" => "chunked") { |out| out.call("3\r\nabc\r\n0\r\n\r\n") }
      end
      odd("a coding of the application's, without an end", "200 abc cut, closed") do |env|
        pieces(env, "transfer-encoding" => "chunked") { |out| out.call("3\r\nabc\r\n") }
      end
      odd("a coding for HTTP/1.0", /\A500 .*, closed\z/m, version: "1.0") { text("transfer-encoding" => "chunked") }
    end

    def connections
      odd("the application closes", "200 abc, closed", head: /^connection: close\r$/i) { text("connection" => "close") }
      odd("the application keeps alive", "200 abc, next", absent: /^connection:/i) { text("connection" => "keep-alive") }
      odd("the application keeps alive and closes", "200 abc, closed") { text("connection" => "keep-alive, close") }
      { "keep-alive" => "keep-alive", "close" => "close", nil => "close" }.each do |asked, told|
        ["keep-alive", "close", "upgrade"].each do |answered|
          closes = told == "close" || answered == "close"
          told_once = { version: "1.0", absent: /^connection:.*^connection:/im, request: asked && "Connection: #{asked}\r\n" }
          odd("HTTP/1.0 #{asked.inspect}, answered #{answered}", "200 abc, #{closes ? "closed" : "next"}", **told_once) do
            text("connection" => answered, "upgrade" => "x")
          end
        end
      end
      odd("HTTP/1.0 is not chunked", "200 abc, closed", version: "1.0", absent: /chunked/i) { |env| pieces(env) { |out| out.call("abc") } }
      odd("HTTP/1.0 cannot tell a cut", /\A(200 ab|nothing), closed\z/, version: "1.0") do |env|
        pieces(env) { |out| out.call("ab"); raise "on purpose" }
      end
    end

    def bodies
      { "nothing" => nil, "a String" => "abc", "a number" => 7, "a Symbol" => :abc, "an Object" => Object.new, "a Hash" => { "a" => "b" },
        "an Array of nothing" => [nil], "an Array of numbers" => [1], "an Array of Arrays" => [["abc"]], "an Array of Symbols" => [:abc],
        "a BasicObject" => BasicObject.new }.each { |name, body| odd("#{name} as body", FAILS) { text({}, body) } }
      odd("an empty Hash as body", "200, next") { text({}, {}) }
      odd("an empty Array as body", "200, next", head: /^content-length: 0\r$/i) { text({}, []) }
      odd("a subclass of Array as body", "200 abc, next") { text({}, Class.new(Array).new(["abc"])) }
      odd("an Array as body that can be closed", "200 abc, next", closes: 1) do |env|
        text({}, with(["abc"], close: -> { CLOSED[env["odd.name"]] += 1 }))
      end
      odd("an Array as body whose close raises", "200 abc, next") { text({}, with(["abc"], close: -> { raise "on purpose" })) }
      odd("a StringIO as body", "200 a\nb, next") { text({}, StringIO.new("a\nb")) }
      odd("an Enumerator as body", "200 abc, next") { text({}, Enumerator.new { |out| out << "a" << "bc" }) }
      odd("a lazy Enumerator as body", "200 abc, next") { text({}, %w[a bc].lazy.map(&:itself)) }
      odd("a File as body", "200 abc\n, next") { text({}, File.open(FILE)) }
      odd("a body that becomes an Array", "200 abc, next", head: /^content-length: 3\r$/i) { text({}, with(Object.new, to_ary: -> { ["abc"] })) }
      odd("a body that becomes nothing", FAILS) { text({}, with(Object.new, to_ary: -> {})) }
      odd("a body that becomes a String", FAILS) { text({}, with(Object.new, to_ary: -> { "abc" })) }
      odd("a body that becomes an Enumerator, as that of Rails", "200 abc, next") do
        body = with(Object.new, each: ->(&block) { %w[a bc].each(&block) })
        text({}, with(body, to_ary: -> { body.to_enum(:each) }))
      end
      odd("a body that fails to become an Array", FAILS, closes: 1) do |env|
        response = pieces(env) { |out| out.call("abc") }
        with(response[2], to_ary: -> { raise "on purpose" })
        response
      end
      odd("a body that answers to each and to call", "200 each, next") do
        text({}, with(->(stream) { stream << "call" }, each: ->(&block) { block.call("each") }))
      end
      odd("a body without respond_to", FAILS) { text({}, with(Object.new, respond_to?: ->(*) { raise "on purpose" })) }
    end

    def each_bodies
      { "nothing" => nil, "a number" => 7, "a Symbol" => :abc, "an Array" => ["abc"] }.each do |name, piece|
        odd("each yields #{name}", FAILS, closes: 1) { |env| pieces(env) { |out| out.call(piece) } }
        odd("each yields #{name} at last", "200 a cut, closed", closes: 1) { |env| pieces(env) { |out| out.call("a"); out.call(piece) } }
      end
      odd("each yields no argument", FAILS) { |env| pieces(env, &:call) }
      odd("each yields two", "200 a, next") { |env| pieces(env) { |out| out.call("a", "b") } }
      odd("each yields empty Strings", "200 abc, next") { |env| pieces(env) { |out| ["", "abc", ""].each(&out) } }
      odd("each yields one String, changed", "200 aab, next") do |env|
        pieces(env) { |out| piece = +"a"; out.call(piece); piece << "b"; out.call(piece) }
      end
      odd("each yields frozen Strings", "200 abc, next") { |env| pieces(env) { |out| out.call("abc") } }
      odd("each yields UTF-16", "200 a\u0000b\u0000, next") { |env| pieces(env) { |out| out.call("ab".encode("UTF-16LE")) } }
      odd("each raises first", FAILS, closes: 1) { |env| pieces(env) { raise "on purpose" } }
      odd("each raises later", "200 ab cut, closed", closes: 1) { |env| pieces(env) { |out| out.call("ab"); raise "on purpose" } }
      odd("each throws later", "200 ab cut, closed", closes: 1) { |env| pieces(env) { |out| out.call("ab"); throw :nobody } }
      odd("each lets the fiber wait for nobody", FAILS) { |env| pieces(env) { Fiber.yield } }
      odd("each writes from a fiber", "200 abc, next") { |env| pieces(env) { |out| Fiber.new { out.call("abc") }.resume } }
      odd("each writes from a thread", { "inline" => FAILS, "others" => "200 abc, next" }) do |env|
        pieces(env) { |out| aside { out.call("abc") } }
      end
      odd("each calls itself", "200 abc, next") do |env|
        pieces(env) { |out| [["a"], ["bc"]].each { |list| list.each { |piece| out.call(piece) } } }
      end
      odd("each overflows the stack", FAILS) { |env| pieces(env) { |out| deep = -> { deep.call }; deep.call; out.call("abc") } }
      odd("each is ended by a break", "200 ab, next") { |env| pieces(env) { |out| loop { out.call("ab"); break if out } } }
      odd("close raises", "200 abc, next") { text({}, with(Pieces.new("", ->(out) { out.call("abc") }), close: -> { raise "on purpose" })) }
      odd("close raises after each has", FAILS) { text({}, with(Pieces.new("", ->(_) { raise "first" }), close: -> { raise "on purpose" })) }
      odd("close throws", "200 abc, next") { text({}, with(Pieces.new("", ->(out) { out.call("abc") }), close: -> { throw :nobody })) }
      odd("close wants an argument", "200 abc, next") { text({}, with(Pieces.new("", ->(out) { out.call("abc") }), close: ->(_) {})) }
    end

    def callables
      odd("a callable that writes nothing", "200, next") { text({}, ->(_stream) {}) }
      odd("a callable that closes at once", "200, next") { text({}, :close.to_proc) }
      odd("a callable without an argument", FAILS) { text({}, -> { "abc" }) }
      odd("a callable that raises", FAILS) { text({}, ->(_) { raise "on purpose" }) }
      odd("a callable that raises later", "200 ab cut, closed") { text({}, ->(stream) { stream << "ab"; raise "on purpose" }) }
      odd("a callable that closes and raises", "200 ab cut, closed") do
        body = lambda do |stream|
          stream << "ab"
          raise "on purpose"
        ensure
          stream.close
        end
        text({}, body)
      end
      odd("a callable that writes after it closed", "200 ab cut, closed") do
        text({}, ->(stream) { stream << "ab"; stream.close; stream << "c" })
      end
      odd("a callable that is refused what comes too late", "200 ab, next") do
        text({}, ->(stream) { stream << "ab"; stream.close; refused { stream << "c" } })
      end
      odd("a callable that closes twice", "200 ab, next") do
        text({}, ->(stream) { stream << "ab"; stream.close; stream.close; stream.close_write })
      end
      odd("a callable that writes what is no String", "200 7a, next") { text({}, ->(stream) { stream.write(7, nil, :a) }) }
      odd("a callable that flushes only", "200, next") { text({}, ->(stream) { stream.flush.flush }) }
      odd("a callable that reads what is not there", "200 [\"\", nil], next") do
        text({}, ->(stream) { stream << [stream.read, stream.read(1)].inspect })
      end
      odd("a callable that closes what it reads", "200 ab, next") { text({}, ->(stream) { stream.close_read; stream << "ab" }) }
      odd("a callable with a length", "200 ab, next") { text({ "content-length" => "2" }, ->(stream) { stream << "ab" }) }
      odd("a callable that is shorter than its length", "200 ab cut, closed") do
        text({ "content-length" => "3" }, ->(stream) { stream << "ab" })
      end
      odd("a callable that is an object", "200 ab, next") { text({}, with(Object.new, call: ->(stream) { stream << "ab" })) }
      odd("a stream that was kept", /\A200 the response stream is closed, .*, next\z/) { text({}, [refused { KEPT[:stream] << "late" }]) }
    end

    def files
      odd("a path", "200 abc\n, next", closes: 1) { |env| pieces(env).tap { |response| with(response[2], to_path: -> { FILE }) } }
      odd("a Pathname", "200 abc\n, next") { text({}, with(Object.new, to_path: -> { Pathname(FILE) })) }
      { "of no String" => 7, "with NUL" => "a\u0000b" }.each do |name, path|
        odd("a path #{name}", FAILS) { text({}, with(Object.new, to_path: -> { path })) }
      end
      odd("a path that raises", FAILS, closes: 1) { |env| pieces(env).tap { |response| with(response[2], to_path: -> { raise "on purpose" }) } }
      { "of nothing" => nil, "of a folder" => __dir__, "of nowhere" => "/nowhere", "of a device" => "/dev/null" }.each do |name, path|
        odd("a path #{name}", "200 abc, next") do |env|
          pieces(env) { |out| out.call("abc") }.tap { |response| with(response[2], to_path: -> { path }) }
        end
      end
      odd("a path and another length", "200 ab, next") do |env|
        pieces(env, "content-length" => "2") { |out| out.call("ab") }.tap { |response| with(response[2], to_path: -> { FILE }) }
      end
      odd("a path of an empty file", "200, next") { text({}, with(Object.new, to_path: -> { EMPTY }, each: ->(&) {})) }
      odd("a path for HEAD", "200, next", verb: "HEAD") { text({}, with(Object.new, to_path: -> { FILE })) }
      odd("a path for 304", "304, next") { text({}, with(Object.new, to_path: -> { FILE }), 304) }
    end

    def without_content
      [204, 304].each do |status|
        odd("#{status} with an Array", "#{status}, next") { text({}, ["abc"], status) }
        odd("#{status} with each", "#{status}, next", closes: 1) { |env| pieces(env, {}, status) { |out| out.call("abc") } }
        odd("#{status} with a callable", "#{status}, next") { text({}, ->(stream) { stream << "abc" }, status) }
        odd("#{status} with a length", "#{status}, next") { text({ "content-length" => "3" }, ["abc"], status) }
        odd("#{status} with a coding", "#{status}, next") { text({ "transfer-encoding" => "chunked" }, [], status) }
        odd("#{status} to HEAD", "#{status}, next", verb: "HEAD") { text({}, [], status) }
      end
      odd("205 with an Array", "205, next") { text({}, ["abc"], 205) }
      odd("205 with each", "205, next", closes: 1) { |env| pieces(env, {}, 205) { |out| out.call("abc") } }
      odd("205 with a callable", "205, next") { text({}, ->(stream) { stream << "abc" }, 205) }
      odd("205 with a length", /\A(205|500 .*), next\z/m) { text({ "content-length" => "3" }, ["abc"], 205) }
      odd("205 of nothing", "205, next") { text({}, [], 205) }
      odd("HEAD with an Array", "200, next", verb: "HEAD", head: /^content-length: 3\r$/i) { text }
      odd("HEAD with each", "200, next", verb: "HEAD", closes: 1) { |env| pieces(env) { |out| out.call("abc") } }
      odd("HEAD with a callable", "200, next", verb: "HEAD") { text({}, ->(stream) { stream << "abc" }) }
      odd("HEAD with a length alone", "200, next", verb: "HEAD", head: /^content-length: 3\r$/i) { text({ "content-length" => "3" }, []) }
      odd("HEAD with an each that raises", "200, next", verb: "HEAD") { |env| pieces(env) { raise "on purpose" } }
      odd("HEAD that raises", "500, next", verb: "HEAD") { raise "on purpose" }
      odd("CONNECT that is refused", "404 abc, next", verb: "CONNECT") { text({}, ["abc"], 404) }
      odd("CONNECT with content", "200, closed", verb: "CONNECT", absent: /^(content-length|transfer-encoding):/i) { text }
    end

    def upgrades
      upgrade = { "connection" => "upgrade", "upgrade" => "echo" }
      odd("101 with a callable", "101 abc, closed", head: /^connection: upgrade\r$/i) do
        [101, upgrade, ->(stream) { stream << "a" << "bc"; stream.close }]
      end
      odd("101 with each", /\A101( abc)?, closed\z/) { [101, upgrade, Pieces.new("", ->(out) { out.call("abc") })] }
      odd("101 with a callable that raises", "101 a, closed") { [101, upgrade, ->(stream) { stream << "a"; raise "on purpose" }] }
      odd("101 with a callable that raises first", /\A(500 .*|101, closed\z)/m) { [101, upgrade, ->(_) { raise "on purpose" }] }
      odd("101 with a hijack", "101 abc, closed") { [101, { **upgrade, "rack.hijack" => ->(io) { io << "abc"; io.close } }, []] }
    end

    def hints
      odd("hints", "103 link=</a>, 200 abc, next") { |env| hint(env); text }
      odd("hints twice", "103 link=</a>, 103 link=</a>, 200 abc, next") { |env| hint(env); hint(env); text }
      odd("hints of nothing", "103, 200 abc, next") { |env| env["rack.early_hints"].call({}); text }
      odd("hints of no Hash", FAILS) { |env| env["rack.early_hints"].call(nil); text }
      odd("hints that cannot be written", FAILS) { |env| env["rack.early_hints"].call("a b" => "c"); text }
      odd("hints that raise", FAILS) { |env| env["rack.early_hints"].call("link" => Says.new { raise "on purpose" }); text }
      odd("hints within hints", /\A(103 link=<\/b>, )?103 link=<\/a>, 200 abc, next\z/) do |env|
        env["rack.early_hints"].call("link" => Says.new { env["rack.early_hints"].call("link" => "</b>"); "</a>" })
        text
      end
      odd("hints for HTTP/1.0", "200 abc, closed", version: "1.0") { |env| hint(env); text }
      odd("hints for HEAD", "103 link=</a>, 200, next", verb: "HEAD") { |env| hint(env); text }
      odd("hints before 304", "103 link=</a>, 304, next") { |env| hint(env); text({}, [], 304) }
      odd("hints before an exception", /\A103 link=<\/a>, 500 .*, next\z/m) { |env| hint(env); raise "on purpose" }
      odd("hints in each", "103 link=</a>, 200 abc, next", head: /^content-type: text\/plain\r$/) do |env|
        pieces(env) { |out| hint(env); out.call("abc") }
      end
      odd("hints in each, with a length", "103 link=</a>, 200 abc, next") do |env|
        pieces(env, "content-length" => "3") { |out| hint(env); out.call("abc") }
      end
      odd("hints in each, too late", "200 abc, next") { |env| pieces(env) { |out| out.call("a"); hint(env); out.call("bc") } }
      odd("hints in a callable", "103 link=</a>, 200 abc, next", head: /^content-type: text\/plain\r$/) do |env|
        text({}, ->(stream) { hint(env); stream << "abc" })
      end
      odd("hints in a callable, too late", "200 abc, next") { |env| text({}, ->(stream) { stream << "a"; hint(env); stream << "bc" }) }
      odd("hints in to_ary", /\A(103 link=<\/a>, )?200 abc, next\z/) do |env|
        text({}, with(Object.new, to_ary: -> { Words.hint(env); ["abc"] }))
      end
      odd("hints in close", "200 abc, next") do |env|
        text({}, with(Pieces.new("", ->(out) { out.call("abc") }), close: -> { Words.refused { Words.hint(env) } }))
      end
      odd("hints of a thread", { "inline" => /\A(103 link=<\/a>, )?200 abc, next\z/, "others" => "103 link=</a>, 200 abc, next" }) do |env|
        aside { refused { hint(env) } }
        text
      end
      odd("hints of a thread in each", /\A(103 link=<\/a>, )?200 abc, next\z/) do |env|
        pieces(env) { |out| aside { refused { hint(env) } }; out.call("abc") }
      end
      odd("hints that were kept", /\A200 (rack.early_hints was called after .*)?, next\z/) { text({}, [refused { hint(KEPT[:env]) }.to_s]) }
      odd("hints after a hijack", 'raw "raw", closed') { |env| take(env); refused { hint(env) }; [0, {}, []] }
    end

    def hijacks
      odd("a hijack", 'raw "raw", closed') { |env| take(env) }
      odd("a hijack that says nothing", "nothing, closed") { |env| take(env, "") }
      odd("a hijack twice", 'raw "true", closed') do |env|
        io = env["rack.hijack"].call
        io.write(env["rack.hijack"].call.equal?(io).to_s)
        io.close
      end
      odd("a hijack answered with a response", 'raw "raw", closed') { |env| take(env); text }
      odd("a hijack that raises", 'raw "raw", closed') { |env| take(env); raise "on purpose" }
      odd("a hijack after hints", '103 link=</a>, raw "raw", closed') { |env| hint(env); take(env) }
      odd("a hijack whose socket outlives it", 'raw "raw", closed') do |env|
        io = env["rack.hijack"].call
        Thread.new { sleep 0.05; io.write("raw"); io.close }
        [0, {}, []]
      end
      odd("a hijack in each", /\A(raw "raw", closed|500 .*)/m) { |env| pieces(env) { take(env) } }
      odd("a hijack in each, too late", "200 abc, next") { |env| pieces(env) { |out| out.call("a"); refused { take(env) }; out.call("bc") } }
      odd("a hijack in each, too late and not rescued", "200 a cut, closed") { |env| pieces(env) { |out| out.call("a"); take(env) } }
      odd("a hijack in a callable", /\A(raw "raw", closed|500 .*)/m) { |env| text({}, ->(_) { take(env) }) }
      odd("a hijack in a callable, too late", "200 abc, next") do |env|
        text({}, ->(stream) { stream << "a"; refused { take(env) }; stream << "bc" })
      end
      odd("a hijack in close", "200 abc, next") do |env|
        text({}, with(Pieces.new("", ->(out) { out.call("abc") }), close: -> { Words.refused { Words.take(env) } }))
      end
      odd("a hijack of a thread", { "inline" => /\A(raw "raw", closed|200 abc, next)\z/, "others" => 'raw "raw", closed' }) do |env|
        aside { refused { take(env) } }
        text
      end
      odd("a hijack that was kept", /\A200 rack.hijack was called after .*, next\z/) { text({}, [refused { take(KEPT[:env]) }]) }
      odd("a hijack with content unread", 'raw "abc", closed', verb: "POST", request: "Content-Length: 3\r\n\r\nabc") do |env|
        take(env, env["rack.input"].read)
      end
    end

    def partial_hijacks
      odd("a partial hijack", "200 abc, closed") { text({ "rack.hijack" => ->(io) { io.write("abc"); io.close } }, []) }
      odd("a partial hijack with a length", "200 abc, closed") do
        text({ "content-length" => "3", "rack.hijack" => ->(io) { io.write("abc"); io.close } }, [])
      end
      odd("a partial hijack and a body", "200 abc, closed") { text("rack.hijack" => ->(io) { io.write("abc"); io.close }) }
      odd("a partial hijack and no body", "200 abc, closed") { text({ "rack.hijack" => ->(io) { io.write("abc"); io.close } }, nil) }
      odd("a partial hijack closes the body", "200 abc, closed", closes: 1) do |env|
        pieces(env, "rack.hijack" => ->(io) { io.write("abc"); io.close })
      end
      odd("a partial hijack that raises", "200 a, closed") { text("rack.hijack" => ->(io) { io.write("a"); raise "on purpose" }) }
      odd("a partial hijack that raises at once", "200, closed") { text("rack.hijack" => ->(_) { raise "on purpose" }) }
      odd("a partial hijack that throws", "200, closed") { text("rack.hijack" => ->(_) { throw :nobody }) }
      odd("a partial hijack without an argument", "200, closed") { text("rack.hijack" => -> {}) }
      odd("a partial hijack that cannot be called", /\A(200, closed|500 .*)/m) { text("rack.hijack" => "abc") }
      odd("a partial hijack of nothing", "200 abc, next") { text("rack.hijack" => nil) }
      odd("a partial hijack whose socket outlives it", "200 abc, closed") do
        text("rack.hijack" => ->(io) { Thread.new { sleep 0.05; io.write("abc"); io.close } })
      end
      odd("a partial hijack for HTTP/1.0", "200 abc, closed", version: "1.0") { text("rack.hijack" => ->(io) { io.write("abc"); io.close }) }
      odd("a partial hijack that hijacks", "200 abc, closed") do |env|
        text("rack.hijack" => ->(io) { refused { env["rack.hijack"].call }; io.write("abc"); io.close })
      end
    end

    def ends
      odd("response_finished that raises", "200 abc, next") { |env| env["rack.response_finished"] << ->(*) { raise "on purpose" }; text }
      odd("response_finished that throws", "200 abc, next") { |env| env["rack.response_finished"] << ->(*) { throw :nobody }; text }
      odd("response_finished that cannot be called", "200 abc, next") { |env| env["rack.response_finished"] << nil << 7; text }
      odd("response_finished that takes nothing", "200 abc, next") { |env| env["rack.response_finished"] << -> {}; text }
      odd("response_finished that adds another", "200 abc, next") do |env|
        env["rack.response_finished"] << ->(*) { env["rack.response_finished"] << ->(*) {} }
        text
      end
      odd("response_finished that is cleared", "200 abc, next") do |env|
        env["rack.response_finished"] << ->(*) { env["rack.response_finished"].clear } << ->(*) {}
        text
      end
      odd("response_finished that hints and hijacks", "200 abc, next") do |env|
        env["rack.response_finished"] << ->(*) { refused { hint(env) }; refused { take(env) } }
        text
      end
      odd("response_finished replaced", "200 abc, next") { |env| env["rack.response_finished"] = nil; text }
      odd("response_finished frozen", "200 abc, next") { |env| env["rack.response_finished"].freeze; text }
      odd("response_finished for an exception", FAILS) { |env| env["rack.response_finished"] << ->(*) { raise "again" }; raise "on purpose" }
      odd("a callback that is called for a cut response", "200 a cut, closed", closes: 1) do |env|
        env["rack.response_finished"] << ->(*) { CLOSED[env["odd.name"]] += 1 }
        text({}, Enumerator.new { |out| out << "a"; raise "on purpose" })
      end
      odd("each of several callbacks is called", "200 abc, next", closes: 2) do |env|
        count = ->(*) { CLOSED[env["odd.name"]] += 1 }
        env["rack.response_finished"] << count << ->(*) { raise "on purpose" } << count
        text
      end
    end

    def envs
      odd("an env that is cleared", "200 abc, next") { |env| env.clear; text }
      odd("an env that is cleared before an exception", FAILS) { |env| env.clear; raise "on purpose" }
      odd("an env that is frozen", "200 abc, next") { |env| env.freeze; text }
      odd("an env that is frozen before a hijack", FAILS) { |env| env.freeze; take(env) }
      odd("an env with other things for rack's", "200 abc, next") do |env|
        env.merge!("rack.input" => nil, "rack.hijack" => 7, "rack.early_hints" => nil)
        text
      end
      odd("a log that is nothing", FAILS) { |env| env["rack.errors"] = nil; raise "on purpose" }
      odd("a log that raises", FAILS) { |env| env["rack.errors"] = with(Object.new, write: ->(*) { raise "again" }); raise "on purpose" }
      odd("a log that is closed", FAILS) { |env| env["rack.errors"] = StringIO.new.tap(&:close); raise "on purpose" }
    end

    def exceptions
      [Exception, NotImplementedError, NoMemoryError, SecurityError, StopIteration, Timeout::Error].each do |kind|
        odd("an exception: #{kind}", FAILS) { raise kind, "on purpose" }
      end
      odd("a throw", FAILS) { throw :nobody }
      odd("a return of nobody's", FAILS) { Words.instance_eval { proc { return 1 } }.call }
      odd("a fiber that waits for nobody", FAILS) { Fiber.yield }
      odd("a fiber that is dead", FAILS) { Fiber.new { nil }.tap(&:resume).resume }
      odd("an exception of the thread's own", FAILS) { Thread.current.raise("on purpose") }
      odd("an exception of another thread", FAILS) { aside { raise "on purpose" } }
      odd("an exception whose message raises", FAILS) { raise with(RuntimeError.new("on purpose"), message: -> { raise "again" }) }
      odd("an exception whose backtrace is none", FAILS) { raise with(RuntimeError.new("on purpose"), backtrace: -> {}) }
      odd("an exception whose full message raises", FAILS) { raise with(RuntimeError.new("on purpose"), full_message: ->(**) { raise "again" }) }
      odd("an exception that is frozen", FAILS) { raise RuntimeError.new("on purpose").freeze }
      odd("an exception that is rescued", "200 on purpose, next") do
        raise "on purpose"
      rescue RuntimeError => e
        text({}, [e.message])
      end
    end
  end

  FAILS = "500 500 Internal Server Error\n, next"
  FILE = File.join(__dir__, "abc.txt")
  EMPTY = File.join(__dir__, "empty.txt")

  PLAIN = 0

  %i[plain shapes statuses header_names header_values header_collections framings connections bodies each_bodies callables files
     without_content upgrades hints hijacks partial_hijacks ends envs exceptions].each { |group| send(group) }
end
