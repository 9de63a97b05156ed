# frozen_string_literal: true

require "rack/handler"
require_relative "../../upwell/rack_handler"

# Of the gem rack 2.
module Rack
  # Where servers are looked for by name.
  module Handler
    # Rails says "Booting Upwell", after the module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register "upwell", "Rack::Handler::Upwell"
  end
end
