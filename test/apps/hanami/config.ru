# frozen_string_literal: true

require "digest/sha2"
require "hanami/middleware/body_parser"
require "hanami/router"
require "rack"

HELD = Queue.new

# An action of each route: hanami-router takes any Rack application.
class Answer
  def initialize(&block)
    @block = block
  end

  def call(env)
    params = env["router.params"].transform_keys(&:to_s)
    body = @block.call(params, Rack::Request.new(env))
    [200, { "content-type" => "text/plain" }, body.is_a?(String) ? [body] : body]
  end
end

use Hanami::Middleware::BodyParser, :form
run(Hanami::Router.new do
  get "/marker", to: Answer.new { |params| sleep(rand(0.001..0.01)) && params["m"] }

  get "/hold", to: (Answer.new do |params|
    HELD << true
    sleep(Float(params.fetch("seconds", 1)))
    params["m"]
  end)

  get "/held", to: Answer.new { HELD.size.to_s }

  post "/upload", to: (Answer.new do |_params, request|
    file = request.params["file"]
    sleep(rand(0.001..0.01))
    [request.params["m"], file[:filename], Digest::SHA256.hexdigest(file[:tempfile].read)].join(" ")
  end)

  get "/stream", to: (Answer.new do |params|
    Enumerator.new do |out|
      5.times do |i|
        sleep(rand(0.001..0.01))
        out << "#{params["m"]} #{i}\n"
      end
    end
  end)
end)
