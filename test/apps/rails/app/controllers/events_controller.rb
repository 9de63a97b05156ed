# frozen_string_literal: true

class EventsController < ApplicationController
  include ActionController::Live

  # An event, a wait and another event, of a thread that Rails starts.
  def index
    response.headers["content-type"] = "text/event-stream"
    response.headers["last-modified"] = Time.now.httpdate
    marker = params[:m]
    3.times do |i|
      response.stream.write("data: #{marker} #{i}\n\n")
      sleep 0.005
    end
  ensure
    response.stream.close
  end
end
