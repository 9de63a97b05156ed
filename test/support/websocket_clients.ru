# frozen_string_literal: true

# Clients that stay. The query says how what is told of one begins; a message, what is done, or else it is sent back.

require "timeout"

$stdout.sync = true

PIECE = ("x" * 65_536).b.freeze

class Handler
  COMMANDS = {
    "raise" => ->(_client, text) { raise text },
    "wait" => ->(_client, text) { Timeout.timeout(Float(text)) { sleep } },
    "kill" => ->(_client, _text) { Thread.current.kill },
    "close" => ->(client, text) { client.close(*text&.split(" ", 2)&.then { |code, reason| [Integer(code), reason].compact }) },
    "slow" => ->(client, text) { sleep 0.05 and client.write(text) },
    "thread" => ->(client, text) { Thread.new { client.write(text) }.value },
    "close-from-thread" => ->(client, text) { Thread.new { client.close(4002, text) }.value },
    "others" => ->(_client, text) { Handler.kept.each_value { |other| other.write(text) } },
    "bulk" => ->(client, text) { Integer(text).times { client.write(PIECE) } },
    "flood" => ->(client, _text) { nil while client.write(PIECE) },
    "specks" => ->(client, text) { Integer(text).times { client.write("") } && tell("specks") },
    "timeout" => ->(client, text) { client.timeout = Float(text) },
    "handler" => ->(client, _text) { client.handler = Object.new },
    "number" => ->(client, text) { client.write(Integer(text)) },
    "event" => ->(client, text) { client.event(text) },
    "latin" => ->(client, _text) { client.write("\xe4".dup.force_encoding("ISO-8859-1")) },
    "broken" => ->(client, _text) { client.write("\xff".dup.force_encoding("UTF-8")) },
    "about" => ->(client, _text) { client.write(about(client)) },
    "fork" => ->(client, _text) { (pid = fork) ? client.write("child: #{Process.wait2(pid).last.exitstatus}") : client.write("x") && exit(1) },
    "collect" => ->(client, text) { client.write(text) if GC.start.nil? },
    "compact" => ->(client, text) { client.write(text) if GC.compact },
    "count" => ->(client, _text) { client.write(ObjectSpace.each_object(Upwell::Client).count.to_s) if GC.start.nil? },
    "stress" => ->(_client, text) { GC.stress = text == "on" }
  }.freeze

  @kept = {} # by name
  singleton_class.attr_reader :kept

  def initialize(name)
    @name = name
  end

  def on_open(client)
    Handler.kept[@name] = client if @name.start_with?("kept")
    tell("open")
  end

  def on_message(client, data)
    command, text = data.split(" ", 2) if data.encoding == Encoding::UTF_8
    COMMANDS.key?(command) ? instance_exec(client, text, &COMMANDS.fetch(command)) : client.write(data)
  end

  def on_shutdown(client)
    tell("shutdown")
    client.write("going")
  end

  def on_close(client)
    Handler.kept.delete(@name)
    tell("close #{client.write("late")} #{client.pending} #{client.open?}")
  end

  private

  def about(client)
    [client.inspect, client.open?, client.env["PATH_INFO"], client.timeout, client.pending].join(" ")
  end

  def tell(what)
    $stdout.write("#{@name}: #{what}.\n")
  end
end

class Draining < Handler
  def on_drained(_client)
    tell("drained")
  end
end

class Events < Handler
  def on_open(client)
    super
    client.write("one\ntwo")
    client.event(nil, id: 7, retry: 10)
    client.event("\u00e4", event: "e", id: "")
    tell([{ event: "a\nb" }, { id: "\0" }, { retry: -1 }].map { |fields| error_of { client.event("x", **fields) } }.join(" "))
    client.close
  end

  private

  def error_of
    yield
    "none"
  rescue StandardError => e
    e.class
  end
end

class Body
  def each
    raise "the body is sent"
  end

  def close
    $stdout.write("body: closed.\n")
  end
end

HANDLERS = { "/" => Handler, "/drained" => Draining, "/events" => Events }.freeze
RESPONSES = {
  "/refused" => [403, { "content-type" => "text/plain" }, ["no"]],
  "/zero" => [0, {}, []],
  "/body" => [200, { "x-a" => "b", "content-length" => "1", "set-cookie" => "c=d", "upgrade" => "h2c" }, Body.new],
  "/events" => [200, { "content-type" => "text/html", "x-a" => "b" }, []],
  "/wrong" => [200, { "x-a" => "b\r\nc" }, []],
  "/protocol" => [101, { "sec-websocket-protocol" => "chat" }, []],
  "/switched" => [200, { "rack.protocol" => "chat/2", "upgrade" => "x", "set-cookie" => "c=d" }, ->(io) { io.write("hi") and io.close }],
  "/hijacked" => [200, { "rack.hijack" => lambda(&:close) }, []]
}.freeze

app = lambda do |env|
  asked = env["rack.upgrade?"]
  return [200, { "content-type" => "text/plain" }, [env["rack.protocol"].inspect]] if env["PATH_INFO"] == "/protocols"

  env["rack.upgrade"] = HANDLERS.fetch(env["PATH_INFO"], Handler).new(env["QUERY_STRING"])
  response = RESPONSES.fetch(env["PATH_INFO"], asked ? [101, {}, []] : [200, { "content-type" => "text/plain" }, [asked.inspect]])
  [response[0], response[1].dup, response[2]]
end

map("/lint") { run Rack::Lint.new(app) }
run app
