# frozen_string_literal: true

# Files by Rack's own middlewares.
require "rack"
require "rack/static"
require "rack/files"

FILES = File.join(__dir__, "files")

use Rack::Static, urls: ["/static"], root: FILES, cascade: true,
                  header_rules: [[:all, { "cache-control" => "public, max-age=60" }], ["txt", { "x-kind" => "text" }]]
map("/files") { run Rack::Files.new(FILES, { "x-from" => "files" }) }
map("/folder") { run Rack::Directory.new(FILES) }
map("/cascade") { run Rack::Cascade.new([Rack::Files.new(FILES), ->(_) { [200, { "content-type" => "text/plain" }, ["second"]] }]) }
map("/mime") { run ->(env) { [200, { "content-type" => Rack::Mime.mime_type(File.extname(env["PATH_INFO"]), "none/none") }, []] } }
run ->(_) { [404, { "content-type" => "text/plain" }, ["nothing here"]] }
