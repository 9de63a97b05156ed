# frozen_string_literal: true

# Answers with the addresses and ports of all clients whose requests it was given before.

require "json"

seen = []
run lambda { |env|
  body = JSON.generate(seen)
  seen << [env["REMOTE_ADDR"], env["REMOTE_PORT"]]
  [200, { "content-type" => "application/json" }, [body]]
}
