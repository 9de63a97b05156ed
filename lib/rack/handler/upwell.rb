# frozen_string_literal: true

require "rack/handler"
require_relative "../../upwell/rack_handler"

module Rack
  module Handler # :nodoc:
    # Rails says "Booting Upwell", after the module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register "upwell", "Rack::Handler::Upwell"
  end
end
