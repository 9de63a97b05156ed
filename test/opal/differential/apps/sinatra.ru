# frozen_string_literal: true

require "sinatra/base"
require "json"

class App < Sinatra::Base
  set :environment, :test
  set :host_authorization, { permitted_hosts: [] }
  set :raise_errors, false
  set :show_exceptions, false
  set :protection, except: [:json_csrf]

  helpers { def greeting(name) = "Hello, #{Rack::Utils.escape_html(name)}!" }
  before { headers "x-app" => "sinatra" }
  after("/after") { body "#{response.body.join} and after" }
  not_found { "nothing at #{request.path_info}" }
  error(ArgumentError) { "ArgumentError: #{env["sinatra.error"].message}" }
  error { "error" }

  get("/") { "root" }
  get("/hello/:name") { greeting(params["name"]) }
  get("/two/:a/:b") { |a, b| "#{a} and #{b}" }
  get("/optional/?:name?") { params["name"].inspect }
  get("/splat/*.*") { params["splat"].inspect }
  get(%r{/regexp/(\d+)}) { |number| number.to_i.succ.to_s }
  get("/json") { content_type(:json) && JSON.generate("a" => [1, nil, 2.5, "é"]) }
  get("/query") { params.sort.inspect }
  post("/form") { params.sort.inspect }
  post("/body") { request.body.read.reverse }
  put("/item/:id") { "put #{params["id"]}" }
  patch("/item/:id") { "patched #{params["id"]}" }
  delete("/item/:id") { status 204 }
  options("/item/:id") { headers "allow" => "GET, PUT" }
  get("/status/:code") { status params["code"].to_i }
  get("/halt") { halt 418, { "x-halted" => "yes" }, "teapot" }
  get("/pass") { pass }
  get("/pass") { "passed on" }
  get("/redirect") { redirect to("/hello/you"), 303 }
  get("/back") { redirect back }
  get("/fails") { raise ArgumentError, "on purpose" }
  get("/breaks") { raise "on purpose" }
  get("/etag") { etag("abc") && "tagged" }
  get("/modified") { last_modified(Time.at(1_700_000_000)) && "old" }
  get("/expires") { cache_control(:public, max_age: 60) && "cached" }
  get("/cookie") { response.set_cookie("a", value: "b", path: "/") && "set" }
  get("/after") { "before" }
  get("/attachment") { attachment("name of file.txt") && "attached" }
  get("/type") { content_type("text/csv", charset: "utf-8") && "a,b" }
  get("/provides", provides: %i[json html]) { "as #{response.content_type}" }
  get("/agent", user_agent: /Robot (\d+)/) { "robot #{params["agent"].first}" }
  get("/agent") { "browser" }
  get("/erb") { erb("<% 3.times do |i| %><p><%= i %></p><% end %><%= params['x'] %>") }
  get("/layout") { erb("inner", layout: "<b><%= yield %></b>") }
  get("/page") { erb :page, locals: { names: ["one", params["x"].to_s] } }
  get("/url") { url("/a b") }
  get("/stream") { stream { |out| 3.times { |i| out << "piece #{i}\n" } } }
end

run App
