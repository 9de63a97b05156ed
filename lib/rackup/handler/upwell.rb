# frozen_string_literal: true

require "rackup/handler"
require_relative "../../upwell/rack_handler"

Rackup::Handler.register(:upwell, Upwell::RackHandler)
