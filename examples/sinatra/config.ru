# frozen_string_literal: true

require "sinatra/base"

class App < Sinatra::Base
  get("/") { "Hello from Sinatra on Upwell\n" }

  get("/greeting/:name") { "Hello, #{params["name"]}\n" }

  post("/greeting") { redirect "/greeting/#{params["name"]}" }

  not_found { "No page has this address\n" }
end

run App
