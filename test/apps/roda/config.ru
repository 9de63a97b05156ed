# frozen_string_literal: true

require "digest"
require "roda"

class Application < Roda
  plugin :streaming
  HELD = Queue.new

  def pause
    sleep(rand(0.001..0.01))
  end

  route do |r|
    @marker = r.params["m"]

    r.get "marker" do
      pause
      @marker
    end

    r.get "hold" do
      HELD << true
      sleep(Float(r.params.fetch("seconds", 1)))
      @marker
    end

    r.get("held") { HELD.size.to_s }

    r.post "upload" do
      file = r.params["file"]
      pause
      [@marker, file[:filename], Digest::SHA256.hexdigest(file[:tempfile].read)].join(" ")
    end

    r.get "stream" do
      stream do |out|
        5.times do |i|
          pause
          out << "#{@marker} #{i}\n"
        end
      end
    end
  end
end

run Application.freeze.app
