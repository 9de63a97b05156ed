# frozen_string_literal: true

# What a WebSocket server does with each of about 550 clients. Where a case has a number, it is the one that the
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

# Their order has no meaning.
module WebSocketCases
  ALL = [framing, pings, reserved_bits, opcodes, fragmentation, heads, utf8, closing, limits, too_large,
         compression, deflate_payloads].flatten.freeze
end
