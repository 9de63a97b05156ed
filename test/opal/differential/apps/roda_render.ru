# frozen_string_literal: true

require "roda"

# Pages of templates beside this file.
class App < Roda
  plugin :render, views: File.join(__dir__, "roda_views"), escape: true
  plugin :partials
  plugin :content_for

  route do |r|
    @name = r.params["name"].to_s
    r.root { view("page", locals: { list: %w[a b] }) }
    r.get("alone") { render("page", locals: { list: [] }) }
    r.get("inline") { view(inline: "<em><%= @name %></em>") }
    r.get("partial") { partial("item", locals: { item: @name }) }
    r.get("each") { render_each(%w[x y], "item") }
    r.get("content") { view("content") }
  end
end

run App.freeze.app
