# frozen_string_literal: true

# A session in a cookie, which is encrypted.
require "rack"
require "rack/session"
require "rack/session/cookie"

use Rack::Session::Cookie, key: "visits", secrets: ["a secret of the tests " * 4], expire_after: 3600, same_site: :lax
run(lambda do |env|
  session = env["rack.session"]
  request = Rack::Request.new(env)
  case request.path_info
  when "/count" then session["count"] = session["count"].to_i + 1
  when "/put" then session[request.params["key"]] = request.params["value"]
  when "/clear" then session.clear
  when "/drop" then session.destroy
  end
  [200, { "content-type" => "text/plain" }, [session.to_hash.except("session_id").sort.inspect]]
end)
