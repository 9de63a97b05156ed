# frozen_string_literal: true

# Clients that stay. The query says how what is told of one begins; a message, what is done, or else it is sent back.

$stdout.sync = true

KEPT = {} # by name
PIECE = ("x" * 65_536).b.freeze

class Handler
  COMMANDS = {
    "raise" => ->(_client, text) { raise text },
    "kill" => ->(_client, _text) { Thread.current.kill },
    "close" => ->(client, text) { client.close(*text&.split(" ", 2)&.then { |code, reason| [Integer(code), reason].compact }) },
    "slow" => ->(client, text) { sleep 0.05 and client.write(text) },
    "thread" => ->(client, text) { Thread.new { client.write(text) }.value },
    "close-from-thread" => ->(client, text) { Thread.new { client.close(4002, text) }.value },
    "others" => ->(_client, text) { KEPT.each_value { |other| other.write(text) } },
    "bulk" => ->(client, text) { Integer(text).times { client.write(PIECE) } },
    "flood" => ->(client, _text) { nil while client.write(PIECE) },
    "timeout" => ->(client, text) { client.timeout = Float(text) },
    "handler" => ->(client, _text) { client.handler = Deaf.new },
    "number" => ->(client, text) { client.write(Integer(text)) },
    "latin" => ->(client, _text) { client.write("\xe4".dup.force_encoding("ISO-8859-1")) },
    "broken" => ->(client, _text) { client.write("\xff") },
    "about" => ->(client, _text) { client.write([client.inspect, client.open?, client.env["PATH_INFO"], client.timeout, client.pending].join(" ")) },
    "fork" => ->(client, _text) { (pid = fork) ? client.write("child: #{Process.wait2(pid).last.exitstatus}") : client.write("child") && exit(1) },
    "collect" => ->(client, text) { client.write(text) if GC.start.nil? },
    "compact" => ->(client, text) { client.write(text) if GC.compact },
    "stress" => ->(_client, text) { GC.stress = text == "on" }
  }.freeze

  def initialize(name)
    @name = name
  end

  def on_open(client)
    KEPT[@name] = client if @name.start_with?("kept")
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
    KEPT.delete(@name)
    tell("close #{client.write("late")} #{client.pending} #{client.open?}")
  end

  private

  def tell(what)
    $stdout.write("#{@name}: #{what}.\n")
  end
end

class Draining < Handler
  def on_drained(_client)
    tell("drained")
  end
end

class Deaf # hears nothing
end

class Body
  def each
    raise "the body is sent"
  end

  def close
    $stdout.write("body: closed.\n")
  end
end

HANDLERS = { "/" => Handler, "/drained" => Draining }.freeze
RESPONSES = {
  "/refused" => [403, { "content-type" => "text/plain" }, ["no"]],
  "/zero" => [0, {}, []],
  "/body" => [200, { "x-a" => "b", "content-length" => "1", "set-cookie" => "c=d", "upgrade" => "h2c" }, Body.new],
  "/wrong" => [200, { "x-a" => "b\r\nc" }, []],
  "/protocol" => [101, { "sec-websocket-protocol" => "chat" }, []],
  "/hijacked" => [200, { "rack.hijack" => ->(io) { io.close } }, []]
}.freeze

app = lambda do |env|
  asked = env["rack.upgrade?"]
  env["rack.upgrade"] = HANDLERS.fetch(env["PATH_INFO"], Handler).new(env["QUERY_STRING"])
  response = RESPONSES.fetch(env["PATH_INFO"], asked ? [101, {}, []] : [200, { "content-type" => "text/plain" }, [asked.inspect]])
  [response[0], response[1].dup, response[2]]
end

map("/lint") { run Rack::Lint.new(app) }
run app
