# frozen_string_literal: true

require "digest/sha2"
require "uri" # which Rack::Lint uses

class Application
  def initialize
    @held = Queue.new
  end

  def call(env)
    request = Rack::Request.new(env)
    body = public_send(request.path_info.delete_prefix("/"), request)
    Rack::Response.new(body, 200, "Content-Type" => "text/plain").finish
  end

  def marker(request)
    pause
    request.params["m"]
  end

  def hold(request)
    @held << true
    sleep(Float(request.params.fetch("seconds", 1)))
    request.params["m"]
  end

  def held(_request)
    @held.size.to_s
  end

  def upload(request)
    file = request.params["file"]
    pause
    [request.params["m"], file[:filename], Digest::SHA256.hexdigest(file[:tempfile].read)].join(" ")
  end

  def stream(request)
    Enumerator.new do |out|
      5.times do |i|
        pause
        out << "#{request.params["m"]} #{i}\n"
      end
    end
  end

  private

  def pause
    sleep(rand(0.001..0.01))
  end
end

use Rack::Lint
run Application.new
