# frozen_string_literal: true

# What a WebSocket server does with each of more than 550 clients. Where a case has a number, it is the one that the
# Autobahn testsuite's list gives it.
module WebSocketCases
  FULL = ENV.key?("FULL") # and with the largest messages, and with a thousand where a few do
end

require "json"
require_relative "websocket_cases/framing"
require_relative "websocket_cases/utf8"
require_relative "websocket_cases/closing"
require_relative "websocket_cases/limits"
require_relative "websocket_cases/compression"

# Made when they are first wanted: they take a while, and some megabytes.
module WebSocketCases
  # @return [Array<Case>] in no order that means anything
  def self.all
    @all ||= [framing, pings, reserved_bits, opcodes, fragmentation, heads, utf8, closing, limits, too_large,
              compression, deflate_payloads].flatten.freeze
  end
end
