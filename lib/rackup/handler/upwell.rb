# frozen_string_literal: true

require "rackup/handler"
require_relative "../../upwell/rack_handler"

# This module is the namespace of the gem rackup.
module Rackup
  # Rackup looks up servers by name in this module.
  module Handler
    # Rails prints "Booting Upwell" from this module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register :upwell, Upwell
  end
end
