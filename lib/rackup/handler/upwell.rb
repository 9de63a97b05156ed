# frozen_string_literal: true

require "rackup/handler"
require_relative "../../upwell/rack_handler"

module Rackup
  module Handler # :nodoc:
    # Rails says "Booting Upwell", after the module's name.
    module Upwell
      extend ::Upwell::RackHandler
    end

    register :upwell, Upwell
  end
end
