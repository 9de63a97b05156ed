# frozen_string_literal: true

run(lambda do |_env|
  sleep 0.01
  [200, { "content-type" => "text/plain" }, ["slept"]]
end)
