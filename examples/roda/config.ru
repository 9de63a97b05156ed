# frozen_string_literal: true

require "roda"

class App < Roda
  route do |r|
    r.root { "Hello from Roda on Upwell\n" }
  end
end

run App.freeze.app
