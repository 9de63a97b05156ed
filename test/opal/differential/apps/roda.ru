# frozen_string_literal: true

require "roda"

class App < Roda
  plugin :json
  plugin :json_parser
  plugin :all_verbs
  plugin :halt
  plugin :not_found
  plugin :error_handler
  plugin :default_headers, "x-app" => "roda"
  plugin :symbol_matchers
  plugin :typecast_params
  plugin :cookies
  plugin :caching
  plugin :type_routing
  plugin :status_handler
  plugin :slash_path_empty
  plugin :multi_route
  plugin :flash
  plugin :sessions, secret: "a secret of the tests " * 4
  plugin :h
  plugin :head
  plugin :param_matchers

  not_found { "nothing at #{request.path}" }
  error { |e| "#{e.class}: #{e.message}" }
  status_handler(403) { "forbidden" }

  route("notes") do |r|
    r.is(String) { |name| "note #{name}" }
    r.get { %w[one two] }
  end

  route do |r|
    r.root { "root" }
    r.get("hello", String) { |name| "Hello, #{h(name)}!" }
    r.get("sum", Integer, Integer) { |a, b| { sum: a + b } }
    r.get("digits", :d) { |digits| "digits #{digits}" }
    r.get("rest", :rest) { |rest| "rest #{rest}" }
    r.is("echo") { r.post { { "sent" => r.params } } }
    r.on("item", Integer) do |id|
      r.get { "item #{id}" }
      r.put { "put #{id}" }
      r.patch { "patched #{id}" }
      r.delete { response.status = 204; "" }
    end
    r.get("typed") { r.html { "<p>html</p>" }; r.json { { "kind" => "json" } }; r.xml { "<kind/>" } }
    r.get("cast") { "#{typecast_params.int("n", 0) + 1} #{typecast_params.array(:int, "list").inspect} #{typecast_params.nonempty_str("s")}" }
    r.get("moved") { r.redirect "/hello/there" }
    r.get("stop") { r.halt 409, { "x-stopped" => "yes" }, "stopped" }
    r.get("forbidden") { response.status = 403; "" }
    r.get("fails") { raise ArgumentError, "on purpose" }
    r.get("etag") { r.etag("abc"); "tagged" }
    r.get("old") { r.last_modified(Time.at(1_700_000_000)); "old" }
    r.get("cookie") { response.set_cookie("a", value: "b c", path: "/"); "set" }
    r.get("uncookie") { response.delete_cookie("a"); "unset" }
    r.get("flashed") { flash["note"] = "seen"; "flashed" }
    r.get("flash") { flash["note"].to_s }
    r.get("count") { (session["count"] = session["count"].to_i + 1).to_s }
    r.get("regexp", /(\d+)-(\w+)/) { |number, word| "#{number} and #{word}" }
    r.on("notes") { r.route("notes") }
    r.on(method: %w[GET POST], param!: "needs") { |value| "needed #{value}" }
  end
end

run App.freeze.app
