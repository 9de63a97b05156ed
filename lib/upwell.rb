# frozen_string_literal: true

require_relative "upwell/version"
require "upwell/upwell"
require_relative "upwell/error_log"
require_relative "upwell/configuration"
require_relative "upwell/scheduler"
require_relative "upwell/server"

# An event loop in C on io_uring, epoll or poll, and on top of it a Rack server and a server of static files.
module Upwell
  autoload :StaticConfiguration, "upwell/static_configuration"
  autoload :StaticServer, "upwell/static_server"
end
