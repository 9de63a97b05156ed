# frozen_string_literal: true

# What a client says goes to all of its room, with the name that the server knows it by.
class RoomChannel < ApplicationCable::Channel
  def subscribed
    stream_from "room_#{params[:room]}"
  end

  def say(data)
    ActionCable.server.broadcast("room_#{params[:room]}", { from: marker, text: data["text"] })
  end
end
