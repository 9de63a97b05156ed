# frozen_string_literal: true

require "stringio"

$stdout.sync = true

# Clients whose handlers know what env was when the application gave it back. The path says what was done to it before; a message, what of it is
# told.

OWN = ["the application's"].freeze
ENDED = %w[rack.early_hints rack.hijack].freeze # which are not equal to what they were
iterating = []
DONE = {
  "/" => ->(_env) {},
  "/frozen" => :freeze.to_proc,
  "/default" => ->(env) { env.default_proc = ->(_hash, key) { raise KeyError, key } },
  "/iterated" => ->(env) { iterating << env.each.tap(&:next) },
  "/own" => ->(env) { env.update("HTTP_ORIGIN" => OWN.first.dup, "rack.errors" => $stdout, "rack.hijack" => OWN) },
  "/extended" => ->(env) { env["HTTP_ORIGIN"].instance_variable_set(:@own, OWN) },
  "/changed" => ->(env) { env["HTTP_ORIGIN"] << "/" }
}.freeze

class Handler
  def remember(env)
    @env = env
    @before = {}.update(env)
  end

  def on_open(client)
    client.write("open")
  end

  def on_message(client, text)
    client.write(send(text, client.env).inspect)
  end

  def on_close(_client)
    $stdout.write("closed\n")
  end

  private

  # Whether it is the same Hash, of the same keys, and which of its values are others.
  def same(env)
    [env.equal?(@env), env.keys == @before.keys, @before.keys.reject { |key| env[key] == @before[key] }.sort]
  end

  # Which objects are what they were, of those that are the application's where it likes.
  def own(env)
    %w[HTTP_ORIGIN rack.errors rack.hijack].select { |key| env[key].equal?(@before[key]) }
  end

  def origin(env)
    [env["HTTP_ORIGIN"], env["HTTP_ORIGIN"].instance_variable_get(:@own)]
  end

  # Which values are no client's own.
  def shared(env)
    env.select { |_, value| value.is_a?(String) && value.frozen? && value.equal?(-value) }.keys.grep(/\AHTTP|\APATH|\AREQUEST_URI/).sort
  end

  def ended(env)
    [error_of { env["rack.early_hints"].call({}) }, error_of { env["rack.hijack"].call }]
  end

  def error_of
    yield
  rescue IOError => e
    e.message
  end

  def log(env)
    errors = env["rack.errors"]
    errors.puts("one line")
    IO.copy_stream(StringIO.new("another line\n"), errors)
    [errors == $stderr, errors.is_a?(IO), errors.fileno, IO.select([], [errors], nil, 1)&.dig(1, 0).equal?(errors)]
  end

  def fail(_env)
    raise "on purpose"
  end

  def age(_env)
    4.times { GC.start }
  end

  def collect(env)
    age(env)
    GC.verify_internal_consistency
    GC.compact if GC.respond_to?(:compact)
  end

  def collect_young(_env)
    GC.start(full_mark: false)
  end

  def stress(_env)
    GC.stress = !GC.stress
  end
end

run(lambda do |env|
  env["rack.upgrade"] = handler = Handler.new
  DONE.fetch(env["PATH_INFO"]).call(env)
  handler.remember(env)
  [200, {}, []]
end)
