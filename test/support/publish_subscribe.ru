# frozen_string_literal: true

# Clients that subscribe and publish as their messages say: "command arguments".

$stdout.sync = true

class Handler
  COMMANDS = {
    "subscribe" => ->(client, name) { client.subscribe(name) },
    "as" => ->(client, how, name) { client.subscribe(name, as: how.to_sym) },
    "pattern" => ->(client, name) { client.subscribe(name, match: :redis) },
    "block" => ->(client, name) { client.subscribe(name) { |channel, message| client.write(told(channel, message)) } },
    "patterns" => ->(client, name) { client.subscribe(name, match: :redis) { |channel, message| client.write(told(channel, message)) } },
    "handler" => ->(client, name) { client.subscribe(name, handler: ->(channel, message) { client.write(told(channel, message)) }) },
    "once" => ->(client, name) { once(client, name) },
    "raise" => ->(client, name) { client.subscribe(name) { |_channel, message| raise message } },
    "from-thread" => ->(client, name) { Thread.new { client.subscribe(name) }.value },
    "unsubscribe" => ->(client, name) { client.unsubscribe(name) },
    "publish" => ->(client, name, text) { client.publish(name, text) },
    "publish-in-thread" => ->(_client, name, text) { Thread.new { Upwell.publish(name, text) }.value },
    "binary" => ->(client, name, text) { client.publish(name, text.b) },
    "both" => ->(client, name) { both(client, name) },
    "wrong" => ->(client) { client.write(wrong(client)) },
    "equal" => ->(client, name) { client.write(about(client.subscribe(name), name)) },
    "many" => ->(client) { client.write(many(client)) },
    "crowd" => ->(client, count) { crowd(client, count.to_i) },
    "stress" => ->(_client, text) { GC.stress = text == "on" },
    "collect" => ->(_client) { GC.start && GC.compact },
    "stats" => ->(client) { client.write(REACTOR.call.channel_stats.inspect) }
  }.freeze

  def on_message(client, data)
    command, *arguments = data.split(" ", 3)
    instance_exec(client, *arguments, &COMMANDS.fetch(command))
    client.write("done") unless command == "close"
  end

  private

  def about(subscription, name)
    [subscription.to_s, subscription == name, subscription == "x", subscription.close].inspect
  end

  def told(channel, message)
    "#{channel}: #{message} (#{message.encoding})"
  end

  def once(client, name)
    subscription = client.subscribe(name) do |_channel, message|
      subscription.close
      client.write("once #{message}")
    end
  end

  # A publish and a write of one thread arrive in this order.
  def both(client, name)
    Thread.new { 20.times { |number| Upwell.publish(name, "p#{number}") && client.write("w#{number}") } }.value
  end

  def wrong(client)
    [{ match: :glob }, { as: :json }].map { |options| error_of { client.subscribe("a", **options) } }
      .push(error_of { client.subscribe("x" * 1025) }, error_of { client.subscribe("x" * 256, match: :redis) })
      .push(error_of { Upwell.publish("a", "\xff".dup.force_encoding("UTF-8")) })
      .push(error_of { Upwell.subscribe("a") }, error_of { Upwell.subscribe("a", match: 1) { nil } }).join(" ")
  end

  def many(client)
    1025.times { |number| client.subscribe("many #{number}") }
    "none"
  rescue Upwell::Error => e
    e.message
  end

  def crowd(client, count)
    count.times { client.subscribe("crowd #{@crowd = @crowd.to_i + 1} *", match: :redis) }
  end

  def error_of
    yield
    "none"
  rescue StandardError => e
    e.class.name
  end
end

# Heard in each process, from before it serves.
Upwell.subscribe("log") { |channel, message| $stdout.write("#{channel} #{message} #{message.encoding}.\n") }
Upwell.subscribe("log*", match: :redis) { |_channel, message| message == "raise" ? raise("in a listener") : $stdout.write("* #{message}.\n") }
Upwell.subscribe("never") { |_channel, _message| $stdout.write("never\n") }.close
REACTOR = -> { ObjectSpace.each_object(Upwell::Reactor).first }

FLOOD = Class.new do
  def begin
    @thread ||= Thread.new { nil while Upwell.publish("flood", "x" * 100) && !@ends }
    "on"
  end

  def end
    @ends = true
    "off"
  end
end.new

ACTIONS = {
  "/publish" => ->(env) { Upwell.publish(*env["QUERY_STRING"].split("=", 2)).to_s },
  "/flood" => ->(_env) { FLOOD.begin },
  "/calm" => ->(_env) { FLOOD.end },
  "/listen" => ->(_env) { (@heard = Upwell.subscribe("later") { |_channel, message| $stdout.write("later #{message}.\n") }).to_s },
  "/deaf" => ->(_env) { @heard.close.inspect },
  "/hear-all" => ->(_env) { Upwell.subscribe("all*", match: :redis) { |_channel, _message| nil }.to_s },
  "/stats" => ->(_env) { REACTOR.call.channel_stats.map { |name, number| "#{name}=#{number}" }.join(" ") }
}.freeze

run(lambda do |env|
  env["rack.upgrade"] = Handler.new if env["rack.upgrade?"]
  action = ACTIONS[env["PATH_INFO"]]
  [200, {}, action ? [action.call(env)] : []]
end)
