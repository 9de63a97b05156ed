# frozen_string_literal: true

require_relative "upwell/version"
require "upwell/upwell"
require_relative "upwell/error_log"
require_relative "upwell/configuration"
require_relative "upwell/scheduler"
require_relative "upwell/server"
require_relative "upwell/static_server"

# An event loop in C on io_uring, epoll or poll, and a Rack server on top of it.
module Upwell
end
