# frozen_string_literal: true

require "digest/sha2"
require "active_support"
require "active_support/cache"
require "rack/attack"
require "rack-timeout"

class Application
  def initialize
    @held = Queue.new
  end

  def call(env)
    request = Rack::Request.new(env)
    body = public_send(request.path_info.delete_prefix("/"), request)
    Rack::Response.new(body, 200, "content-type" => "text/plain").finish
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

# Each marker that begins with "attack" may ask five times in a minute.
Rack::Attack.cache.store = ActiveSupport::Cache::MemoryStore.new
Rack::Attack.throttle("markers", limit: 5, period: 60) { |request| request.params["m"][/\Aattack[^.]*/] if request.params["m"] }
Rack::Timeout::Logger.disable

use Rack::Attack
use Rack::Timeout, service_timeout: 5
run Application.new
