# frozen_string_literal: true

require "digest/sha2"
require "grape"

class Lines
  def initialize(marker)
    @marker = marker
  end

  def each
    5.times do |i|
      sleep(rand(0.001..0.01))
      yield "#{@marker} #{i}\n"
    end
  end
end

class Application < Grape::API
  HELD = Queue.new
  content_type :txt, "text/plain"
  format :txt
  helpers do
    def pause
      sleep(rand(0.001..0.01))
    end
  end

  params { requires :m, type: String, regexp: /\A[\w-]+\z/ }
  get "marker" do
    pause
    params[:m]
  end

  params do
    requires :m, type: String
    optional :seconds, type: Float, default: 1.0
  end
  get "hold" do
    HELD << true
    sleep(params[:seconds])
    params[:m]
  end

  get("held") { HELD.size.to_s }

  params do
    requires :m, type: String
    requires :file, type: File
  end
  post "upload" do
    pause
    status 200
    [params[:m], params[:file][:filename], Digest::SHA256.hexdigest(params[:file][:tempfile].read)].join(" ")
  end

  get "stream" do
    stream Lines.new(params[:m])
  end
end

run Application
