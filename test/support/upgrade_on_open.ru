# frozen_string_literal: true

# Clients whose `on_open` takes its time; its query says what it does. A request for /publish publishes its query on the channel "news".
class Handler
  LONG = 0.1 # seconds
  OPENINGS = {
    "sleeping" => ->(_client) { sleep LONG },
    "computing" => ->(_client) { compute },
    "plain" => ->(_client) {},
    "raising" => ->(_client) { raise "in on_open" },
    "closing" => ->(client) { client.close(4000) },
    "endless" => ->(client) { tick(client) },
    "filling" => ->(client) { client.write("x" * 100_000) && tick(client) },
    "vanished" => ->(_client) { sleep LONG }
  }.freeze

  def on_open(client)
    instance_exec(client, &OPENINGS.fetch(client.env["QUERY_STRING"]))
    client.subscribe("news")
    @open = true
  end

  def on_message(client, data)
    client.write("#{@open ? "open" : "early"} #{data}")
  end

  def on_close(client)
    $stderr.write("#{client.env["QUERY_STRING"]} closed.\n")
  end

  private

  def compute
    end_time = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LONG
    nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < end_time
  end

  def tick(client)
    sleep LONG while client.write("tick")
  end
end

run(lambda do |env|
  env["rack.upgrade"] = Handler.new if env["rack.upgrade?"]
  Upwell.publish("news", env["QUERY_STRING"]) if env["PATH_INFO"] == "/publish"
  [200, {}, [Process.pid.to_s]]
end)
