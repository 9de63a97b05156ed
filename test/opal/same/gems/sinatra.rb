# frozen_string_literal: true

require "sinatra/base"
require "rack/mock_request"
class App < Sinatra::Base
  set :environment, :production
  disable :protection, :sessions
  enable :show_exceptions if false
  get("/") { "Hello" }
  get("/hi/:name") { "hi #{params["name"]} #{params[:name]}" }
  get("/j") { content_type :json; '{"a":1}' }
  post("/p") { "p #{params[:x]}" }
  get("/halt") { halt 403, "no" }
  get("/redir") { redirect "/" }
  get(%r{/rx/(\d+)}) { |d| "rx #{d}" }
  get("/*.*") { |a, b| "#{a}|#{b}" }
  not_found { "nf" }
  before { headers "x-a" => "b" }
end
m = Rack::MockRequest.new(App)
%w[/ /hi/w /j /halt /redir /rx/12 /nope /a/b.c].each { |u| r = m.get(u); p r.status, r["content-type"], r["x-a"], r.body, r["location"] }
p m.post("/p", params: { "x" => "1" }).body
