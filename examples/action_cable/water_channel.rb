# frozen_string_literal: true

# What happens on the water, told to all.
class WaterChannel < ActionCable::Channel::Base
  NAME_MAX = 20 # characters
  TEXT_MAX = 140
  TELL_EVERY = 2 # seconds

  # Of whom nothing is heard any more has gone: where a worker is killed, nobody says that its guests leave.
  periodically :tell, every: TELL_EVERY

  def subscribed
    @lantern = {}
    stream_from "water"
    transmit({ you: connection.id, worker: Process.pid })
    tell arrived: true
  end

  def unsubscribed
    tell left: true
  end

  # Where its lantern is, from 0 to 1.
  def move(data)
    x, y = data.values_at("x", "y").map { |part| part.to_f.clamp(0, 1) }
    @lantern = { x: x, y: y, name: data["name"].to_s[0, NAME_MAX], hue: data["hue"].to_i % 360 }
    tell
  end

  def say(data)
    text = data["text"].to_s.strip[0, TEXT_MAX]
    tell text: text unless text.empty?
  end

  private

  def tell(**what)
    ActionCable.server.broadcast("water", { id: connection.id, worker: Process.pid, **@lantern, **what })
  end
end
