# frozen_string_literal: true

require "rack"
require "erubi"

TEMPLATES = {
  "/plain" => "Hello <%= name %>\n",
  "/loop" => "<% 3.times do |i| %>\n<p><%= i %></p>\n<% end %>\n",
  "/escape" => "<%== name %> <%= name %>",
  "/if" => "<% if name == 'a' %>one<% else %>other<% end %>",
  "/quotes" => "it's \"quoted\" \\ <%= name.size %> \#{x}\n",
  "/trim" => "  <%- x = 1 -%>\n<%= x %>\n"
}.freeze

# Has a method for each template.
class Page
  def initialize(name) = @name = name
  attr_reader :name

  TEMPLATES.each do |path, text|
    class_eval("def page_#{path.delete("/")}\n#{Erubi::Engine.new(text, freeze: true).src}\nend", __FILE__, __LINE__) # def page_plain
  end
end

run(lambda do |env|
  request = Rack::Request.new(env)
  [200, { "content-type" => "text/html" }, [Page.new(request.params["name"].to_s).public_send("page_#{request.path_info.delete("/")}")]]
end)
