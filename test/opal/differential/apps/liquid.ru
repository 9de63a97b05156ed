# frozen_string_literal: true

require "rack"
require "liquid"

TEMPLATES = {
  "/plain" => "Hello {{ name }}",
  "/filters" => "{{ name | upcase }} {{ name | size }} {{ name | replace: 'a', 'b' }} {{ name | escape }} {{ name | split: '' | join: '-' }}",
  "/loop" => "{% for i in (1..3) %}{{ forloop.index }}:{{ i | times: 2 }}{% unless forloop.last %},{% endunless %}{% endfor %}",
  "/if" => "{% if name == 'a' %}one{% elsif name contains 'b' %}two{% else %}three{% endif %}",
  "/case" => "{% case name %}{% when 'a' %}A{% when 'b' %}B{% else %}?{% endcase %}",
  "/assign" => "{% assign x = name | append: '!' %}{{ x }}{% capture y %}[{{ x }}]{% endcapture %}{{ y }}",
  "/list" => "{% for one in list %}{{ one }} {% endfor %}{{ list | first }} {{ list | last }} {{ list | sort | join: ' ' }}",
  "/table" => "{% tablerow i in list cols:2 %}{{ i }}{% endtablerow %}",
  "/math" => "{{ 7 | divided_by: 2 }} {{ 7 | modulo: 4 }} {{ 2.5 | round }} {{ 10 | minus: 3 | plus: 1 }}",
  "/wrong" => "{% if %}"
}.freeze

run(lambda do |env|
  request = Rack::Request.new(env)
  template = Liquid::Template.parse(TEMPLATES.fetch(request.path_info))
  [200, { "content-type" => "text/plain" }, [template.render("name" => request.params["name"], "list" => %w[c a b])]]
rescue Liquid::SyntaxError => e
  [422, { "content-type" => "text/plain" }, [e.class.name]]
end)
