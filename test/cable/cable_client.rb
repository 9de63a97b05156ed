# frozen_string_literal: true

require "json"
require_relative "../support/raw_client"
require_relative "../support/websocket_client"

# A client of Action Cable, which answers its pings and passes over its signs of life.
class CableClient < WebSocketClient
  BEAT = '{"type":"ping"'

  # @param port [Integer]
  # @param query [String]
  # @param headers [Hash{String => String, nil}] of the request, beside or in the place of its own
  def initialize(port, query, headers = {})
    super(port, "/cable?#{query}", protocols: "actioncable-v1-json, actioncable-unsupported",
                                   headers: { "Origin" => "http://127.0.0.1:#{port}", "Host" => "127.0.0.1:#{port}", **headers })
  end

  # @param fields [Hash] of a command
  def command(fields)
    send_text(JSON.generate(fields))
  end

  def subscribe(identifier)
    command(command: "subscribe", identifier: JSON.generate(identifier))
  end

  # Subscribes, and waits until it is confirmed.
  def join(identifier)
    subscribe(identifier)
    await_message { |message| message["type"] == "confirm_subscription" && message["identifier"] == JSON.generate(identifier) }
  end

  def perform(identifier, action, data = {})
    command(command: "message", identifier: JSON.generate(identifier), data: JSON.generate({ action: action, **data }))
  end

  # @return [Hash] the next message
  def message
    JSON.parse(receive || raise("the server closes with #{close_code.inspect}"))
  end

  # @return [Hash] the first message for which the block is true
  def await_message
    loop do
      found = message
      return found if yield(found)
    end
  end

  # @return [Event] what comes next
  def event
    loop do
      event = super
      return event unless event&.type == :text && event.data.start_with?(BEAT)
    end
  end

  # Waits for a sign of life.
  def await_beat
    nil until WebSocketClient.instance_method(:event).bind_call(self).data.start_with?(BEAT)
  end
end
