# frozen_string_literal: true

# Clients that stay, each of which says what is done. What their handlers see is noted in the file LEDGER, a line for each event: whether
# it should have been is for the reader to say.

LEDGER = File.new(ENV.fetch("LEDGER"), "a")
PIECE = ("x" * 65_536).b.freeze
TICK = 0.01 # seconds
LISTENING = [] # rubocop:disable Style/MutableConstant
LISTENING_MAX = 10

# What is the same for all handlers that a client has in turn.
class Life
  LOCK = Mutex.new
  @number = 0

  # @return [Integer] no other's
  def self.number = LOCK.synchronize { @number += 1 }

  attr_reader :mark

  def initialize(mark)
    @mark = mark
    @name = "#{Process.pid}.#{Life.number} #{mark}"
    @stage = :new
  end

  def open
    pass(:new, :open, "open")
  end

  def close
    pass(@stage == :open ? :open : :new, :closed, "close")
  end

  # One after another, and none before the first or after the last.
  def serve(what)
    note("wrong: #{what} when #{@stage}, during #{@serving.inspect}") if @stage != :open || @serving
    @serving = what
    yield
  ensure
    @serving = nil
  end

  def note(what)
    LEDGER.syswrite("#{what} #{@name}\n")
  end

  private

  def pass(from, to, what)
    note("wrong: #{what} when #{@stage}") if @stage != from || @serving
    @stage = to
    note(what)
  end
end

class Handler
  COMMANDS = {
    "subscribe" => ->(client, name) { client.subscribe(name) },
    "pattern" => ->(client, name) { client.subscribe(name, match: :redis) },
    "block" => ->(client, name) { client.subscribe(name) { |_channel, message| client.write("b #{message}") } },
    "unsubscribe" => ->(client, name) { client.unsubscribe(name) },
    "publish" => ->(client, name, text) { client.publish(name, text) },
    "publish-in-thread" => ->(_client, name, text) { Thread.new { Upwell.publish(name, text) }.value },
    "write-in-thread" => ->(client, mark) { Thread.new { client.write("pushed #{mark}") }.value },
    "write-later" => ->(client, mark) { Thread.new { 5.times { sleep(0.002) && client.write("pushed #{mark}") } } },
    "subscribe-in-thread" => ->(client, name) { Thread.new { client.subscribe(name) }.value },
    "close" => ->(client, code) { client.close(Integer(code), "on purpose") },
    "close-in-thread" => ->(client, code) { Thread.new { client.close(Integer(code), "on purpose") }.value },
    "raise" => ->(_client) { raise "on purpose" },
    "handler" => ->(client) { client.handler = [Handler, Draining].sample.new(@life) },
    "timeout" => ->(client, text) { client.timeout = Float(text) },
    "bulk" => ->(client, text) { Integer(text).times { client.write(PIECE) } },
    "flood" => ->(client) { nil while client.write(PIECE) },
    "listen" => ->(_client) { listen },
    "slow" => ->(_client) { sleep(0.005) },
    "collect" => ->(_client) { rand(4).zero? && GC.compact }
  }.freeze

  def initialize(life)
    @life = life
  end

  def on_open(client)
    @life.open
    client.write("open #{@life.mark}")
  end

  def on_message(client, data)
    @life.serve("message") do
      next client.write(data) if data.encoding == Encoding::BINARY || data.start_with?("e ")

      command, *arguments = data.split(" ", 3)
      instance_exec(client, *arguments, &COMMANDS.fetch(command))
      client.write("done #{@life.mark} #{command}")
    end
  end

  def on_shutdown(client)
    @life.serve("shutdown") { client.write("going #{@life.mark}") }
  end

  def on_close(client)
    @life.note("wrong: open") if client.open? || client.write("late")
    @life.close
  end

  private

  # The process itself, which soon ceases to.
  def listen
    LISTENING << Upwell.subscribe(%w[c* ?1].sample, match: :redis) { |channel, _| @life.note("wrong: #{channel}") if channel == "all" }
    LISTENING << Upwell.subscribe("all") { |channel, _| @life.note("wrong: #{channel}") if channel != "all" }
    LISTENING.shift.close while LISTENING.size > LISTENING_MAX
  end
end

class Draining < Handler
  def on_drained(_client)
    @life.serve("drained") { nil }
  end
end

class Feed < Handler
  def on_open(client)
    super
    client.subscribe("all")
    client.subscribe("c*", match: :redis)
    5.times { |number| client.event("event #{number}", id: number, event: "e") }
    Thread.new { 5.times { client.event("thread #{@life.mark}") } } if rand(2).zero?
    client.timeout = 0.2
    client.close if rand(4).zero?
  end
end

# Publishes all the while, from the process that it finds itself in.
TICKER = Class.new do
  def begin
    @begin ||= Thread.new { (1..).each { |number| tick(number) } }
  end

  private

  def tick(number)
    sleep(TICK)
    Upwell.publish("all", "m T#{Process.pid} #{number} all #{"p" * (number % 500)}")
  end
end.new

ACTIONS = {
  "/collect" => -> { 3.times { GC.start } && "collected #{Process.pid}" },
  "/probe" => -> { "alive" },
  "/about" => -> { ObjectSpace.each_object(Upwell::Reactor).first.channel_stats.map { |name, number| "#{name}=#{number}" }.join(" ") }
}.freeze

run(lambda do |env|
  TICKER.begin
  kind = { websocket: [Handler, Draining].sample, sse: Feed }[env["rack.upgrade?"]]
  env["rack.upgrade"] = kind.new(Life.new(env["QUERY_STRING"])) if kind
  [200, {}, kind ? [] : [ACTIONS.fetch(env["PATH_INFO"]).call]]
end)
