# frozen_string_literal: true

require "sinatra/base"

class App < Sinatra::Base
  get("/") { "Hello from Sinatra on Upwell\n" }
end

run App
