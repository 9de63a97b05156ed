# frozen_string_literal: true

require_relative "case"

# Section 9, and 10. The largest messages, of 4 MiB and more, only where all is wanted.
module WebSocketCases
  KIB = 1024
  MIB = 1024 * KIB
  LARGEST = 16 * MIB # that the server takes

  module_function

  def limits
    %i[text binary].each_with_index.flat_map do |type, index|
      large(type, index) + in_fragments(type, index) + in_chops(type, index) + round_trips(type, index)
    end << EchoCase.new("10.1.1", :text, ["*" * 65_536], fragment: 1300)
  end

  def filler(type, length)
    type == :text ? "\u20ac*".b * (length / 4) : "\x00\xfe\xff\x81".b * (length / 4)
  end

  def large(type, index)
    [64 * KIB, 256 * KIB, MIB, *([4 * MIB, 8 * MIB, LARGEST] if FULL)].each.with_index(1).map do |length, number|
      EchoCase.new("9.#{1 + index}.#{number}", type, [filler(type, length)])
    end
  end

  def in_fragments(type, index)
    message = filler(type, FULL ? 4 * MIB : 256 * KIB)
    (0..8).map do |power|
      size = power == 8 ? 4 * MIB : 64 * (4**power)
      EchoCase.new("9.#{3 + index}.#{power + 1}", type, [message], fragment: size)
    end
  end

  def in_chops(type, index)
    message = filler(type, FULL ? MIB : 128 * KIB)
    (0..5).map { |power| EchoCase.new("9.#{5 + index}.#{power + 1}", type, [message], chop: 64 << power) }
  end

  def round_trips(type, index)
    [0, 16, 64, 256, 1024, 4096].each.with_index(1).map do |length, number|
      EchoCase.new("9.#{7 + index}.#{number}", type, [filler(type, length)] * (FULL ? 1000 : 20))
    end
  end

  # Not on the list: what is larger than the server takes; it need not be sent to be refused.
  def too_large
    half = fragments("*" * 1000, "")[0]
    {
      "one byte too large" => [[0x82, 0xff, LARGEST + 1].pack("CCQ>") + "mask"],
      "one byte too large with its second frame" => [half, [0x80, 0xff, LARGEST - 999].pack("CCQ>") + "mask"]
    }.map { |name, sent| FrameCase.new(name, sent, code: 1009) }
  end
end
