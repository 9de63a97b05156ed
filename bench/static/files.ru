# frozen_string_literal: true

require "rack/files"

run Rack::Files.new(ENV.fetch("FOLDER"))
