# frozen_string_literal: true

require_relative "case"

module WebSocketCases
  HELLO = "Hello, world!"

  module_function

  # Section 1: messages in one frame.
  def framing
    lengths = [0, 125, 126, 127, 128, 65_535, 65_536]
    { text: "*", binary: "\xfe".b }.each_with_index.flat_map do |(type, byte), index|
      cases = lengths.each_with_index.map { |length, at| EchoCase.new("1.#{index + 1}.#{at + 1}", type, [byte * length]) }
      cases << EchoCase.new("1.#{index + 1}.8", type, [byte * 65_536], chop: 997)
    end
  end

  # Section 2.
  def pings
    ten = (0..9).map { |number| "payload-#{number}" }
    ["", HELLO, "\x00\xff\xfe\xfd\xfc\xfb\x00\xff", "\xfe" * 125].each_with_index.map do |payload, index|
      FrameCase.new("2.#{index + 1}", [frame(:ping, payload)], [[:pong, payload]])
    end + [
      FrameCase.new("2.5", [frame(:ping, "\xfe" * 126)], code: 1002),
      FrameCase.new("2.6", octets(frame(:ping, "\xfe" * 125)), [[:pong, "\xfe" * 125]]),
      FrameCase.new("2.7", [frame(:pong)]),
      FrameCase.new("2.8", [frame(:pong, "unasked")]),
      FrameCase.new("2.9", [frame(:pong, "unasked"), frame(:ping, "asked")], [[:pong, "asked"]]),
      FrameCase.new("2.10", ten.map { |payload| frame(:ping, payload) }, ten.map { |payload| [:pong, payload] }),
      FrameCase.new("2.11", octets(*ten.map { |payload| frame(:ping, payload) }), ten.map { |payload| [:pong, payload] })
    ]
  end

  # Section 3: what stands before is answered, and what comes behind is not. No extension gives the bits a meaning.
  def reserved_bits
    hello = frame(:text, HELLO)
    [
      [frame(:text, HELLO, rsv: 0x10)],
      [[hello, frame(:text, HELLO, rsv: 0x20), frame(:ping)].join],
      [hello, frame(:text, HELLO, rsv: 0x30), frame(:ping)],
      octets(hello, frame(:text, HELLO, rsv: 0x40), frame(:ping)),
      [frame(:binary, HELLO, rsv: 0x50)],
      [frame(:ping, HELLO, rsv: 0x60)],
      [frame(:close, "\x03\xe8", rsv: 0x70)]
    ].each_with_index.map do |sent, index|
      FrameCase.new("3.#{index + 1}", sent, (1..3).cover?(index) ? [[:text, HELLO]] : [], code: 1002, offer: nil)
    end
  end

  # Section 4.
  def opcodes
    { 1 => 3..7, 2 => 11..15 }.flat_map do |section, numbers|
      numbers.each_with_index.map do |opcode, index|
        breach = frame(opcode, index.odd? ? HELLO : "")
        sent = index < 2 ? [breach] : [frame(:text, HELLO), breach, frame(:ping)]
        FrameCase.new("4.#{section}.#{index + 1}", index == 4 ? octets(*sent) : sent,
                      index < 2 ? [] : [[:text, HELLO]], code: 1002)
      end
    end
  end

  # Frames in the three ways in which they may come: together, one by one, and by their bytes.
  def three_ways(first_number, frames, *expected, **options)
    [[frames.join], frames, octets(*frames)].each_with_index.map do |sent, index|
      FrameCase.new("5.#{first_number + index}", sent, expected, **options)
    end
  end

  # Section 5.
  def fragmentation
    first, last = fragments("fragment1", "fragment2")
    whole = [:text, "fragment1fragment2"]
    nothing = { true => frame(:continuation, "of nothing"), false => frame(:continuation, "of nothing", fin: false) }
    [
      FrameCase.new("5.1", [frame(:ping, "a", fin: false), frame(:continuation, "b")], code: 1002),
      FrameCase.new("5.2", [frame(:pong, "a", fin: false), frame(:continuation, "b")], code: 1002),
      *three_ways(3, [first, last], whole),
      *three_ways(6, [first, frame(:ping, "ping"), last], [:pong, "ping"], whole),
      *three_ways(9, [nothing[true], frame(:text, HELLO)], code: 1002),
      *three_ways(12, [nothing[false], frame(:text, HELLO)], code: 1002),
      FrameCase.new("5.15", [first, last, nothing[false], frame(:text, HELLO)], [whole], code: 1002),
      FrameCase.new("5.16", [nothing[false], first, last] * 2, code: 1002),
      FrameCase.new("5.17", [nothing[true], first, last] * 2, code: 1002),
      FrameCase.new("5.18", [first + frame(:text, "fragment2")], code: 1002),
      *pings_among_fragments
    ]
  end

  def pings_among_fragments
    parts = %w[one two three four five]
    frames = fragments(*parts)
    before = [*frames[0, 2], frame(:ping, "first")]
    after = [*frames[2, 2], frame(:ping, "last"), frames[4]]
    pong = [:pong, "first"]
    expected = [[:pong, "last"], [:text, parts.join]]
    [
      FrameCase.new("5.19", [before.join, pong, after.join], expected),
      FrameCase.new("5.20", [*before, pong, *after], expected)
    ]
  end

  # Not on the list: RFC 6455, section 5.2.
  def heads
    {
      "no mask" => frame(:text, HELLO, mask: nil),
      "no mask of a ping" => frame(:ping, mask: nil),
      "no mask of a close" => frame(:close, "\x03\xe8", mask: nil),
      "a short length in 16 bits" => [0x81, 0xfe, 125].pack("CCn"),
      "a short length in 64 bits" => [0x81, 0xff, 65_535].pack("CCQ>"),
      "a length of 2 to the 63rd" => [0x82, 0xff, 1 << 63].pack("CCQ>"),
      "a ping whose length has 16 bits" => [0x89, 0xfe, 126].pack("CCn")
    }.map { |name, bytes| FrameCase.new(name, [bytes + ("\0" * 200)], code: 1002) } + masks
  end

  def masks
    ["\0\0\0\0", "\xff\xff\xff\xff", "\x01\x02\x03\x04"].map do |mask|
      FrameCase.new("mask #{mask.unpack1("H*")}", [frame(:binary, HELLO, mask: mask)], [[:binary, HELLO]])
    end
  end
end
