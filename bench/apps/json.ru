# frozen_string_literal: true

# Ready-made, for servers bring versions of the json gem that differ, and it is the servers that are compared.
BODY = "[#{Array.new(17) { |index| %({"id":#{index},"name":"item #{index}","price":#{index * 1.25},"tags":["new","red"]}) }.join(",")}]".freeze

HEADERS = {
  "content-type" => "application/json",
  "cache-control" => "private, max-age=0, must-revalidate",
  "etag" => 'W/"6b2f1e0c"',
  "vary" => "accept-encoding",
  "x-content-type-options" => "nosniff",
  "x-frame-options" => "SAMEORIGIN",
  "x-request-id" => "1f0c7d6e-6a52-4d0a-9a39-0d5c7f1b2a3e",
  "x-runtime" => "0.001",
  "referrer-policy" => "strict-origin-when-cross-origin"
}.freeze

run ->(_env) { [200, HEADERS.dup, [BODY]] }
