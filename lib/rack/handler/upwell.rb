# frozen_string_literal: true

require "rack/handler"
require_relative "../../upwell/rack_handler"

# This module is the namespace of the gem rack 2.
module Rack
  # Rack looks up servers by name in this module.
  module Handler
    # Rails prints "Booting Upwell" from this module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register "upwell", "Rack::Handler::Upwell"
  end
end
