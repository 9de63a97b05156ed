# frozen_string_literal: true

require "rack"
require "rack/session"
require "rack/session/cookie"
require "rack/protection"

use Rack::Session::Cookie, key: "s", secrets: ["a secret of the tests " * 4]
use Rack::Protection, except: %i[session_hijacking], permitted_hosts: []
use Rack::Protection::ContentSecurityPolicy, default_src: "'self'", script_src: "'none'"
use Rack::Protection::StrictTransport, max_age: 60
use Rack::Protection::ReferrerPolicy
use Rack::Protection::EscapedParams
run(lambda do |env|
  request = Rack::Request.new(env)
  [200, { "content-type" => request.params["type"] || "text/html" }, ["#{request.path_info} #{request.params.sort.inspect}"]]
end)
