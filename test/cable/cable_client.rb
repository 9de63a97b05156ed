# frozen_string_literal: true

require "json"
require "timeout"
require_relative "../support/raw_client"
require_relative "../support/websocket_client"

# A client of Action Cable, which answers its pings and passes over its signs of life.
class CableClient < WebSocketClient
  BEAT = '{"type":"ping"'
  EVENT_MAX = 30 # seconds, in which signs of life may come
  alias any_event event
  private :any_event

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
    Timeout.timeout(EVENT_MAX) { next_event }
  end

  # Waits for a sign of life.
  def await_beat
    nil until beat?(any_event)
  end

  private

  def next_event
    loop do
      event = any_event
      return event unless beat?(event)
    end
  end

  def beat?(event)
    event&.type == :text && event.data.start_with?(BEAT)
  end
end
