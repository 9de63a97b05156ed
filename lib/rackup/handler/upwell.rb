# frozen_string_literal: true

require "rackup/handler"
require_relative "../../upwell/rack_handler"

# Of the gem rackup.
module Rackup
  # Where servers are looked for by name.
  module Handler
    # Rails says "Booting Upwell", after the module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register :upwell, Upwell
  end
end
