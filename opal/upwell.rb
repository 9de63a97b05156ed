# frozen_string_literal: true

require "upwell/version"

# The part of Upwell that applications use. It is loaded in every program.
module Upwell
  # The base class of this library's errors.
  class Error < StandardError; end
end

require "thread"
require "upwell/exception_log"
require "upwell/event_stream"
require "upwell/pub_sub"
require "upwell/publish_subscribe_methods"
require "upwell/server/messaging/rack_pub_sub"
require "upwell/subscription"
