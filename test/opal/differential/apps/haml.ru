# frozen_string_literal: true

require "rack"
require "haml"

PAGES = {
  "/plain" => Haml::Template.new { "%h1= name\n" },
  "/nested" => Haml::Template.new { "%ul\n  - %w[a b].each do |one|\n    %li.item{id: one}= one\n" },
  "/escape" => Haml::Template.new { "%p&= name\n%p!= name\n" }
}.freeze

run(lambda do |env|
  request = Rack::Request.new(env)
  [200, { "content-type" => "text/html" }, [PAGES.fetch(request.path_info).render(Object.new, name: request.params["name"].to_s)]]
end)
