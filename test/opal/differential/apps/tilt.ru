# frozen_string_literal: true

require "rack"
require "tilt"
require "tilt/erubi"
require "tilt/string"

PAGES = {
  "/erb" => Tilt::ErubiTemplate.new { "<% list.each do |one| %><li><%= one %></li><% end %><%= name %>" },
  "/layout" => Tilt::ErubiTemplate.new { "<body><%= yield %></body>" },
  "/escaped" => Tilt::ErubiTemplate.new(escape_html: true) { "<p><%= name %></p>" }
}.freeze

run(lambda do |env|
  request = Rack::Request.new(env)
  locals = { name: request.params["name"].to_s, list: %w[a b] }
  body = PAGES.fetch(request.path_info).render(Object.new, locals) { "inner #{locals[:name]}" }
  [200, { "content-type" => "text/html" }, [body]]
end)
