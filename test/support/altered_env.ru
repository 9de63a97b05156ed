# frozen_string_literal: true

# Leaves things in env that do not go together, and is at work until its client has gone.

nobody_can_tell = Class.new { def to_s = raise("no text") }.new
texts = { "/binary" => "/\xC3\xA4".b, "/utf-8" => "/\u00E4", "/lines" => "/\nforged", "/object" => nobody_can_tell }

run lambda { |env|
  path = env["PATH_INFO"]
  env["PATH_INFO"] = env["REQUEST_METHOD"] = texts.fetch(path)
  warn "at work: #{path}"
  sleep 1
  [200, {}, [path]]
}
