# frozen_string_literal: true

require "roda"

class App < Roda
  route do |r|
    r.root { "Hello from Roda on Upwell\n" }

    r.on "greeting" do
      @greeting = "Hello"

      r.get("world") { "#{@greeting}, world\n" }

      r.is do
        r.get { "#{@greeting}\n" }
        r.post { r.redirect "/greeting/world" }
      end
    end
  end
end

run App.freeze.app
