# frozen_string_literal: true

# What happens on the water, told to all.
class WaterChannel < ActionCable::Channel::Base
  NAME_MAX = 20 # characters
  TEXT_MAX = 140

  def subscribed
    stream_from "water"
    transmit({ you: connection.id, worker: Process.pid })
    tell arrived: true
  end

  def unsubscribed
    tell left: true
  end

  # Where its lantern is, from 0 to 1.
  def move(data)
    tell x: data["x"].to_f.clamp(0, 1), y: data["y"].to_f.clamp(0, 1), name: data["name"].to_s[0, NAME_MAX], hue: data["hue"].to_i % 360
  end

  def say(data)
    text = data["text"].to_s.strip[0, TEXT_MAX]
    tell text: text unless text.empty?
  end

  private

  def tell(**what)
    ActionCable.server.broadcast("water", { id: connection.id, worker: Process.pid, **what })
  end
end
