# frozen_string_literal: true

require "json"
require "securerandom"

# Someone in a room: the handler of one client.
class GuestHandler
  NAME = /\A[[:print:]]{1,24}\z/
  MESSAGE_BYTES_MAX = 8192

  def initialize(rooms, room, name)
    @rooms = rooms
    @room = room
    @name = name
    @id = SecureRandom.hex(8)
  end

  # Whatever is said between these two steps comes twice, and not never: the page knows it by its number.
  def on_open(client)
    client.subscribe(channel)
    change do |room|
      room.arrive(@id, @name)
      client.write(JSON.generate(type: "welcome", worker: Process.pid, rooms: @rooms.names, messages: room.messages))
      tell(type: "here", number: room.number, names: room.names)
    end
  end

  def on_message(client, data)
    id, text = said(data)
    return client.close(1007, "not a message") unless id

    change { |room| (message = room.say(id, @name, text)) && tell(type: "message", **message) }
  end

  def on_close(_client)
    change { |room| room.leave(@id) && tell(type: "here", number: room.number, names: room.names) }
  end

  private

  # @return [Array<String>, nil]
  def said(data)
    message = JSON.parse(data) if data.bytesize <= MESSAGE_BYTES_MAX
    message.values_at("id", "text").map { |value| value.to_s.scrub } if message.is_a?(Hash)
  rescue JSON::ParserError
    nil
  end

  def channel
    "room #{@room}"
  end

  def change(&block)
    @rooms.change(@room, &block)
  end

  def tell(event)
    Upwell.publish(channel, JSON.generate(event))
  end
end
