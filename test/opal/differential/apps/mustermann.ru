# frozen_string_literal: true

require "rack"
require "mustermann"
require "mustermann/sinatra"
require "mustermann/rails"
require "mustermann/regexp"
require "json"

PATTERNS = ["/", "/:name", "/:name.:ext", "/a/*", "/(a|b)/:c", "/x/:y?", "/:id{d}", "/lang/:l/(:rest)?", "/*first/mid/*last", "/é/:n"].freeze
COMPILED = PATTERNS.map { |pattern| Mustermann.new(pattern) }
RAILS = ["/:a(/:b)", "/r/*rest"].map { |pattern| Mustermann.new(pattern, type: :rails) }
REGULAR = Mustermann.new(%r{/(?<year>\d{4})-(?<month>\d\d)}, type: :regexp)
CAPTURED = Mustermann.new("/:id", capture: { id: /\d+/ })
EXPANDED = Mustermann.new("/:name/:id")

run(lambda do |env|
  path = Rack::Utils.unescape_path(env["PATH_INFO"])
  found = (COMPILED + RAILS + [REGULAR, CAPTURED]).map { |pattern| pattern.params(path) }
  expanded = EXPANDED.expand(name: path.delete("/"), id: path.size)
  [200, { "content-type" => "application/json" }, [JSON.generate([found, expanded, EXPANDED.names])]]
end)
