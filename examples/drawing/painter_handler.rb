# frozen_string_literal: true

require_relative "stroke_message_format"

# Someone at the board: the handler of one client.
class PainterHandler
  CHANNEL = "drawing"

  def initialize(board)
    @board = board
  end

  # Whoever comes late gets the picture as it is, and from then on what is added.
  def on_open(client)
    client.write(Process.pid.to_s)
    @board.look do |picture|
      client.write(picture)
      client.subscribe(CHANNEL, as: :binary)
    end
  end

  def on_message(client, data)
    return client.close(1007, "not a stroke") unless StrokeMessageFormat.valid?(data)

    @board.paint(data) { |change| Upwell.publish(CHANNEL, change) }
  end
end
