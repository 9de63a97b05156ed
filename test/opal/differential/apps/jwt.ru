# frozen_string_literal: true

require "rack"
require "jwt"
require "json"

SECRET = "a secret of the tests, which is long enough"

run(lambda do |env|
  request = Rack::Request.new(env)
  case request.path_info
  when "/sign" then [200, { "content-type" => "text/plain" },
                     [JWT.encode({ "name" => request.params["name"], "n" => 1 }, SECRET, request.params["alg"] || "HS256")]]
  when "/none" then [200, { "content-type" => "text/plain" }, [JWT.encode({ "name" => "x" }, nil, "none")]]
  else
    payload, header = JWT.decode(request.params["token"], SECRET, true, { algorithms: %w[HS256 HS512], verify_expiration: true })
    [200, { "content-type" => "application/json" }, [JSON.generate([payload, header])]]
  end
rescue JWT::DecodeError, JWT::EncodeError => e
  [401, { "content-type" => "text/plain" }, [e.class.name]]
end)
