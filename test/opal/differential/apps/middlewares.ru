# frozen_string_literal: true

# What answers passes through most of Rack's middlewares.
require "rack"

APP = lambda do |env|
  request = Rack::Request.new(env)
  body = case request.path_info
         when "/long" then ["line of text\n"] * 200
         when "/pieces" then %w[one two three]
         when "/empty" then []
         when "/unicode" then ["smørrebrød ", "日本語"]
         when "/method" then [request.request_method]
         else ["path #{request.path_info}"]
         end
  status = request.params["status"]&.to_i || 200
  return [status, {}, []] if [204, 304].include?(status)

  headers = { "content-type" => request.params["type"] || "text/plain" }
  headers["last-modified"] = "Sat, 01 Nov 2025 10:00:00 GMT" if request.params["dated"]
  headers["cache-control"] = "no-transform" if request.params["plain"]
  [status, headers, body]
end

use Rack::Head
use Rack::ConditionalGet
use Rack::ETag
use Rack::Deflater, include: %w[text/plain text/html], if: ->(_env, _status, _headers, body) { body.respond_to?(:each) }
use Rack::ContentLength
use(Rack::ContentType, "text/html")
use Rack::MethodOverride
use Rack::TempfileReaper
use Rack::Config do |env|
  env["app.configured"] = true
end
use Rack::Lint
run APP
