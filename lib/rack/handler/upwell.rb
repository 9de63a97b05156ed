# frozen_string_literal: true

require "rack/handler"
require_relative "../../upwell/rack_handler"

Rack::Handler.register("upwell", "Upwell::RackHandler")
