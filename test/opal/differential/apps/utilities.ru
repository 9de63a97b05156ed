# frozen_string_literal: true

# What Rack::Utils computes of its parameter.
require "rack"
require "json"

UTILITIES = {
  "escape" => ->(text) { Rack::Utils.escape(text) },
  "escape_path" => ->(text) { Rack::Utils.escape_path(text) },
  "unescape" => ->(text) { Rack::Utils.unescape(text) },
  "escape_html" => ->(text) { Rack::Utils.escape_html(text) },
  "query" => ->(text) { Rack::Utils.build_nested_query(Rack::Utils.parse_nested_query(text)) },
  "flat" => ->(text) { Rack::Utils.build_query(Rack::Utils.parse_query(text)) },
  "accepts" => ->(text) { Rack::Utils.q_values(text) },
  "best" => ->(text) { Rack::Utils.best_q_match(text, %w[text/html application/json text/plain]) },
  "encoding" => ->(text) { Rack::Utils.select_best_encoding(%w[gzip identity], Rack::Utils.q_values(text)) },
  "ranges" => ->(text) { Rack::Utils.get_byte_ranges(text, 1000) },
  "cookies" => ->(text) { Rack::Utils.parse_cookies_header(text) },
  "cookie" => ->(text) { Rack::Utils.set_cookie_header(text, { value: text, path: "/", max_age: 5, http_only: true, same_site: :strict }) },
  "clean" => ->(text) { Rack::Utils.clean_path_info(text) },
  "status" => ->(text) { Rack::Utils.status_code(text.to_sym) },
  "forwarded" => ->(text) { Rack::Utils.forwarded_values(text)&.transform_keys(&:to_s) },
  "mime" => ->(text) { Rack::Mime.mime_type(text) },
  "media" => ->(text) { [Rack::MediaType.type(text), Rack::MediaType.params(text)] },
  "digest" => ->(text) { [Rack::Utils.secure_compare(text, "a"), Rack::ETag.new(->(_) { [200, {}, [text]] }).call({})[1]["etag"]] }
}.freeze

run(lambda do |env|
  request = Rack::Request.new(env)
  value = UTILITIES.fetch(request.path_info.delete_prefix("/")).call(request.GET["of"].to_s)
  [200, { "content-type" => "application/json" }, [JSON.generate([value])]]
rescue KeyError, ArgumentError, Rack::QueryParser::InvalidParameterError, Rack::QueryParser::ParameterTypeError => e
  [422, { "content-type" => "text/plain" }, [e.class.name]]
end)
