# frozen_string_literal: true

# A stroke as it is sent and kept, in network byte order: how many bytes it has (2), colour (1), width (1), where it begins
# (2 + 2, in half pixels of the board), and then two signed bytes for each step, right and down. Two bytes alone wipe the board.
module StrokeMessageFormat
  WIPE = [2].pack("n").freeze
  HEAD_BYTES = 8
  BYTES_MAX = 4096
  COLOURS = 0..9
  WIDTHS = 1..80
  ACROSS = 0..3200
  DOWN = 0..2000

  # @param data [String]
  def self.valid?(data)
    return data == WIPE if data.bytesize == WIPE.bytesize
    return false unless data.bytesize.between?(HEAD_BYTES, BYTES_MAX) && data.bytesize.even?

    bytes, *values = data.unpack("nCCnn")
    bytes == data.bytesize && [COLOURS, WIDTHS, ACROSS, DOWN].zip(values).all? { |range, value| range.cover?(value) }
  end
end
