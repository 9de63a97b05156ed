# frozen_string_literal: true

# Answers with the length of what was sent, and its checksum.

require "zlib"

run lambda { |env|
  body = env["rack.input"].read
  [200, { "content-type" => "text/plain" }, ["#{env["PATH_INFO"]} #{body.bytesize} #{Zlib.crc32(body)}"]]
}
