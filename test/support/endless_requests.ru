# frozen_string_literal: true

require "fiddle"

# Requests that do not end by themselves, and tell that they have begun.
PATIENCE = 600 # seconds
# As a C extension that keeps Ruby's lock.
POLL = [Fiddle.dlopen(nil)["poll"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_INT], Fiddle::TYPE_INT].freeze
KEEP_LOCK = Fiddle::Function.new(*POLL, need_gvl: true)

# A client that stays, and keeps the server.
class EndlessRequest
  def on_open(_client)
    warn "open"
  end

  def on_message(_client, _data)
    warn "begun"
    sleep PATIENCE
  end

  def on_shutdown(_client)
    sleep PATIENCE
  end
end

DEEDS = {
  "/sleeps" => ->(_env) { sleep PATIENCE },
  "/computes" => ->(_env) { loop { nil } },
  "/keeps_lock" => ->(_env) { loop { KEEP_LOCK.call(nil, 0, PATIENCE * 1000) } },
  "/stays" => ->(env) { env["rack.upgrade"] = EndlessRequest.new }
}.freeze

at_exit { sleep PATIENCE } if ENV["HANGS_AT_EXIT"]

run(lambda do |env|
  warn "begun" unless env["rack.upgrade?"]
  DEEDS.fetch(env["PATH_INFO"], ->(_env) {}).call(env)
  [200, { "content-type" => "text/plain" }, ["done"]]
end)
