# frozen_string_literal: true

require "roda"
require "rack/mock_request"
require "tmpdir"
ROOT = Dir.mktmpdir
at_exit { File.unlink(File.join(ROOT, "a.html")); Dir.rmdir(ROOT) }
File.write(File.join(ROOT, "a.html"), "<h1>é</h1>\n")
class App < Roda
  plugin :json
  plugin :json_parser, content_type_regexp: /json/
  plugin :all_verbs
  plugin :halt
  plugin :head
  plugin :not_found
  plugin :error_handler
  plugin :symbol_matchers
  plugin :params_capturing
  plugin :default_headers, "x-app" => "roda"
  plugin :hooks
  plugin :status_handler
  plugin :cookies
  plugin :h
  plugin :path
  plugin :sessions, secret: "s" * 64
  plugin :typecast_params
  plugin :multi_route
  plugin :hash_branches
  plugin :public, root: ROOT
  path :item, "/items"
  not_found { "nope" }
  error { |e| "oops #{e.class} #{e.message}" }
  before { @b = 1 }
  hash_branch("hb") { |r| "hash branch" }
  route("sub") { |r| r.get("x") { "sub x" } }
  route do |r|
    r.public
    r.root { "root #{@b}" }
    r.hash_branches
    r.on("hello") do
      r.get(String) { |name| "hello #{h name}" }
      r.is { r.post { "posted #{r.params["a"]}" } }
    end
    r.get("json") { { "a" => [1, nil, "é"], "b" => { "c" => true } } }
    r.get("num", Integer) { |n| (n + 1).to_s }
    r.get("sym", :d) { |n| "d#{n}" }
    r.on("a", "b") { "ab" }
    r.post("echo") { r.params }
    r.get("raise") { raise ArgumentError, "bad" }
    r.get("halt") { r.halt(403, "halted") }
    r.get("redir") { r.redirect "/json", 303 }
    r.get("count") { s = r.session; s["n"] = (s["n"] || 0) + 1; s["n"].to_s }
    r.get("cookie") { response.set_cookie("k", "v"); r.cookies["k"].to_s }
    r.get("tp") { typecast_params.int("i").inspect + typecast_params.array(:int, "l").inspect }
    r.get("path") { item_path }
    r.put("put") { "put" }
    r.on("sub") { r.route("sub") }
    r.get("rx", /(\d+)-(\w+)/) { |a, b| "#{a}|#{b}" }
    r.get("opt", ["x", "y"]) { |v| "opt #{v}" }
    r.on(method: :delete) { "deleted" }
    r.get("q", proc { |*| r.params["z"] == "1" }) { "z1" }
  end
end
m = Rack::MockRequest.new(App.app)
show = ->(r) { p [r.status, r.headers.to_a.reject { |k, _| %w[set-cookie last-modified].include?(k) }.sort, r.body] }
%w[/ /hello/w%26orld /json /num/41 /sym/12 /sym/x /a/b /raise /halt /redir /nope /path /tp?i=3&l[]=1&l[]=2 /sub/x /rx/12-ab /opt/y /q?z=1 /hb /a.html].each { |u| show.(m.get(u)) }
show.(m.post("/hello", params: { "a" => "é" }))
show.(m.post("/echo", input: '{"x":[1,2.5,{"y":null}]}', "CONTENT_TYPE" => "application/json"))
show.(m.post("/echo", input: "{bad", "CONTENT_TYPE" => "application/json"))
show.(m.put("/put")); show.(m.head("/")); show.(m.delete("/zzz"))
r = m.get("/count"); p r.body; c = r["set-cookie"].then { |x| Array(x).first.split(";").first }; p m.get("/count", "HTTP_COOKIE" => c).body
p m.get("/cookie", "HTTP_COOKIE" => "k=1")["set-cookie"]
