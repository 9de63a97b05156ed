# frozen_string_literal: true

require "rack"
require "slim"

PAGES = {
  "/plain" => Slim::Template.new { "h1 = name\n" },
  "/nested" => Slim::Template.new { "ul\n  - %w[a b].each do |one|\n    li.item id=one = one\n" },
  "/escape" => Slim::Template.new { "p = name\np == name\n" },
  "/text" => Slim::Template.new { "p\n  | text with \#{name}\n" }
}.freeze

run(lambda do |env|
  request = Rack::Request.new(env)
  [200, { "content-type" => "text/html" }, [PAGES.fetch(request.path_info).render(Object.new, name: request.params["name"].to_s)]]
end)
