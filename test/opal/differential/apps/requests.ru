# frozen_string_literal: true

# What Rack::Request makes of a request.
require "rack"
require "json"

def file(upload)
  return upload unless upload.is_a?(Hash) && upload[:tempfile]

  { name: upload[:name], filename: upload[:filename], type: upload[:type], size: upload[:tempfile].read.bytesize }
end

APP = lambda do |env|
  request = Rack::Request.new(env)
  seen = { get: request.GET, post: request.POST.transform_values { |value| file(value) }, cookies: request.cookies, host: request.host,
           scheme: request.scheme, path: request.fullpath, type: request.media_type, parameters: request.media_type_params, xhr: request.xhr?,
           agent: request.user_agent, languages: request.accept_language.map(&:first),
           encodings: request.accept_encoding.map(&:first), forwarded: request.forwarded_for,
           referrer: request.referer, form: request.form_data?, length: request.content_length }
  [200, { "content-type" => "application/json" }, [JSON.generate(seen)]]
rescue Rack::QueryParser::InvalidParameterError, Rack::QueryParser::ParameterTypeError, Rack::QueryParser::ParamsTooDeepError,
       Rack::Multipart::EmptyContentError, EOFError => e
  [400, { "content-type" => "text/plain" }, [e.class.name]]
end

use Rack::Lint
run APP
