# frozen_string_literal: true

require "digest/sha2"
require "sinatra/base"

# The instance of a request is what it could share with others.
class Application < Sinatra::Base
  set :host_authorization, permitted_hosts: []
  set :held, Queue.new
  before { @marker = params["m"] }

  get "/marker" do
    sleep(rand(0.001..0.01))
    @marker
  end

  get "/hold" do
    settings.held << true
    sleep(Float(params.fetch("seconds", 1)))
    @marker
  end

  get("/held") { settings.held.size.to_s }

  post "/upload" do
    file = params["file"]
    sleep(rand(0.001..0.01))
    [@marker, file["filename"], Digest::SHA256.hexdigest(file["tempfile"].read)].join(" ")
  end

  get "/stream" do
    stream do |out|
      5.times do |i|
        sleep(rand(0.001..0.01))
        out << "#{@marker} #{i}\n"
      end
    end
  end
end

run Application
