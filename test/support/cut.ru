# frozen_string_literal: true

# Answers that are whole, and such that are not.

TEXT = { "content-type" => "text/plain", "cache-control" => "max-age=60" }.freeze
GIVEN = { "/whole" => -> {}, "/fails" => -> { raise "on purpose" }, "/waits" => -> { sleep 60 } }.freeze

run lambda { |env|
  after = GIVEN.fetch(env["PATH_INFO"])
  [200, TEXT.dup, Enumerator.new { |pieces| pieces << "begun"; after.call; pieces << " and done" }]
}
