# frozen_string_literal: true

# Answers that are whole, and such that are not.

TEXT = { "content-type" => "text/plain", "cache-control" => "max-age=60" }.freeze
GIVEN = {
  "/whole" => ->(_) {},
  "/fails" => ->(_) { raise "on purpose" },
  "/waits" => ->(_) { sleep 60 },
  "/more" => ->(pieces) { 20.times { pieces << ("x" * 50_000) } },
  "/endless" => ->(pieces) { loop { pieces << ("x" * 50_000) } }
}.freeze

run lambda { |env|
  after = GIVEN.fetch(env["PATH_INFO"])
  headers = TEXT.merge(env["QUERY_STRING"].empty? ? {} : { "transfer-encoding" => env["QUERY_STRING"] })
  [200, headers, Enumerator.new { |pieces| pieces << "begun"; after.call(pieces); pieces << " and done" }]
}
