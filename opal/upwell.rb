# frozen_string_literal: true

require "upwell/version"

# What an application has of Upwell, whether or not it requires it.
module Upwell
  # What is wrong is told by the message.
  class Error < StandardError; end
end

require "thread"
require "upwell/error_log"
require "upwell/event_stream"
require "upwell/pub_sub"
require "upwell/publishing"
require "upwell/server/rack_pub_sub"
require "upwell/subscription"
