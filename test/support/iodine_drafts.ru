# frozen_string_literal: true

# What Iodine's drafts ask of a server, told by a handler to whoever asks: a message is "command arguments". What happens to a client is told on
# standard output, after the name that its query has.

$stdout.sync = true

# An engine that tells what it is told, and publishes in this process.
class Engine
  def initialize(name)
    @name = name
  end

  def subscribe(channel, is_pattern = nil)
    tell("subscribe #{channel} #{is_pattern ? true : false}")
  end

  def unsubscribe(channel, is_pattern = nil)
    tell("unsubscribe #{channel} #{is_pattern ? true : false}")
  end

  def publish(channel, message)
    tell("publish #{channel} #{message}")
    message != "refused" && Upwell.publish(channel, message, false)
  end

  private

  def tell(what)
    $stdout.write("engine #{@name}: #{what}.\n")
    true
  end
end

ENGINES = Hash.new { |engines, name| engines[name] = Engine.new(name) }

# Methods that a module adds to the class of clients.
module Shouting
  def shout(text)
    write(text.upcase)
  end
end

class Handler
  COMMANDS = {
    "call" => ->(client, name, *arguments) { client.public_send(name, *arguments) },
    "env" => ->(client, name) { client.env[name] },
    "write" => ->(client, text) { client.write(text) },
    "bytes" => ->(client, text) { client.write(text.b) },
    "number" => ->(client) { client.write(1) },
    "close" => ->(client) { [client.write("last"), client.close, client.open?, client.pending, client.write("late"), client.subscribe("a")] },
    "shout" => ->(client, text) { client.class.prepend(Shouting) && client.shout(text) },
    "timeout" => ->(client, seconds) { (client.timeout = Float(seconds)) && client.timeout.to_s == seconds },
    "much" => ->(client) { 20.times { client.write("x" * 100_000) } && client.pending.positive? },
    "slow" => ->(_client) { sleep 0.05 },
    "change" => ->(client, name) { change(client, name) },
    "change-in-thread" => ->(client, name) { Thread.new { change(client, name) }.value },
    "change-while-asked" => ->(client, during, name) { change_while_asked(client, during, name) },
    "raise" => ->(_client, text) { raise text },
    "subscribe" => ->(client, name) { !client.subscribe(name).nil? },
    "symbol" => ->(client, name) { !client.subscribe(name.to_sym).nil? },
    "pattern" => ->(client, name) { !client.subscribe(name, true).nil? },
    "block" => ->(client, name) { !client.subscribe(name) { |from, message| client.write("#{from}=#{message}") }.nil? },
    "unsubscribe" => ->(client, name) { client.unsubscribe(name) },
    "unsubscribe-pattern" => ->(client, name) { client.unsubscribe(name, true) },
    "unsubscribe-channel" => ->(client, name) { client.unsubscribe(name, false) },
    "publish" => ->(client, name, text) { client.publish(name, text) },
    "publish-number" => ->(client, name) { client.publish(name, 1) },
    "publish-here" => ->(client, name, text) { client.publish(name, text, false) },
    "publish-by" => ->(client, engine, text) { client.publish("by", text, ENGINES[engine]) },
    "publish-broken" => ->(client, name) { client.publish(name, "\xff".dup.force_encoding("UTF-8")) },
    "orphan" => ->(_client, name) { Upwell.subscribe(name) },
    "attach" => ->(_client, engine) { Upwell::PubSub.attach(ENGINES[engine]).equal?(ENGINES[engine]) },
    "detach" => ->(_client, engine) { Upwell::PubSub.detach(ENGINES[engine]).equal?(ENGINES[engine]) },
    "reset" => ->(_client, engine) { Upwell::PubSub.reset(ENGINES[engine]).equal?(ENGINES[engine]) },
    "default" => ->(_client, engine) { (Upwell::PubSub.default = ENGINES[engine]) && Upwell::PubSub.default.equal?(ENGINES[engine]) },
    "no-default" => ->(_client) { Upwell::PubSub.default = nil },
    "rack" => ->(_client, name, text) { Rack::PubSub.publish(name, text) },
    "channels" => ->(_client) { Upwell::PubSub::CLUSTER.stats.values_at(:channels, :patterns).sum },
    "process" => ->(_client) { Process.pid }
  }.freeze

  def initialize(name, label = "first")
    @name = name
    @label = label
  end

  def on_open(client)
    tell("on_open begins")
    sleep 0.05 if @name.start_with?("slow")
    compute if @name.start_with?("busy")
    tell("on_open #{client.open?}")
  end

  def on_message(client, data)
    return client.write("#{data.encoding} #{data.bytesize}") if data.encoding == Encoding::BINARY

    tell("on_message #{data}")
    command, *arguments = data.split(" ", 3)
    result = instance_exec(client, *arguments, &COMMANDS.fetch(command))
    tell("served #{command}")
    client.write("=#{shown(result)}")
  rescue ArgumentError, TypeError => e
    client.write("=#{e.class}")
  end

  def on_drained(client)
    tell("on_drained #{client.pending}")
  end

  def on_shutdown(client)
    tell("on_shutdown #{client.open?}")
    client.write("shutdown")
  end

  def on_close(client)
    tell(["on_close", client.open?, *after_its_end(client)].join(" "))
    raise "in on_close" if @label == "raising"
  end

  private

  def compute
    end_time = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.1
    nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < end_time
  end

  # Where another handler has taken the client over, that is not its end.
  def after_its_end(client)
    client.open? ? [] : [client.pending, client.write("late"), client.subscribe("late").inspect]
  end

  # Symbols are Strings on JavaScript runtimes.
  def shown(result)
    result.is_a?(Symbol) ? result.to_s.inspect : result.inspect
  end

  def change(client, name)
    name.split(",").each { |label| client.handler = Handler.new(@name, label) }
    [client.handler.equal?(self), client.env["rack.upgrade"].equal?(client.handler)]
  end

  # `respond_to?` of the new handler sets another one first, as another thread might meanwhile.
  def change_while_asked(client, during, name)
    handler = Handler.new(@name, name)
    another = Handler.new(@name, during)
    handler.define_singleton_method(:respond_to?) do |*arguments|
      client.handler = another unless client.handler.equal?(another) || client.handler.equal?(self)
      super(*arguments)
    end
    client.handler = handler
    client.handler.equal?(handler)
  end

  def tell(what)
    $stdout.write("#{@name} #{@label}: #{what}.\n")
  end
end

BODY = Class.new do
  def each
    yield "the body"
  end

  def close
    $stdout.write("the body is closed.\n")
  end
end

KINDS = { websocket: "websocket", sse: "sse" }.freeze
STATUSES = { "/refused" => 403, "/moved" => 302, "/zero" => 0, "/ok" => 200 }.freeze

run(lambda do |env|
  kind = KINDS.fetch(env["rack.upgrade?"]) { env["rack.upgrade?"] ? "other" : "none" }
  next [200, { "content-type" => "text/plain" }, [kind]] if env["PATH_INFO"] == "/kind"

  env["rack.upgrade"] = Handler.new(env["QUERY_STRING"])
  status = STATUSES.fetch(env["PATH_INFO"]) { kind == "none" ? 200 : 101 }
  [status, { "content-type" => "text/plain", "x-own" => "field" }, BODY.new]
end)
