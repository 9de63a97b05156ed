# frozen_string_literal: true

require_relative "case"

# Section 6. Ruby tells what is UTF-8.
module WebSocketCases
  KOSME = "\u03ba\u1f79\u03c3\u03bc\u03b5" # characters of two and three bytes

  module_function

  def utf8
    utf8_fragments + utf8_at_once + utf8_sequences
  end

  def utf8_fragments
    text = "Hello-\u00b5@\u00df\u00f6\u00e4\u00fc\u00e0\u00e1-UTF-8!!"
    broken = "#{KOSME}\xed\xa0\x80edited".b
    [
      FrameCase.new("6.1.1", [frame(:text)], [[:text, ""]]),
      FrameCase.new("6.1.2", fragments("", "", ""), [[:text, ""]]),
      FrameCase.new("6.1.3", fragments("", "middle", ""), [[:text, "middle"]]),
      FrameCase.new("6.2.1", [frame(:text, text)], [[:text, text]]),
      FrameCase.new("6.2.2", fragments(text[0, 10], text[10..]), [[:text, text]]),
      FrameCase.new("6.2.3", fragments(*text.b.chars), [[:text, text]]),
      FrameCase.new("6.2.4", fragments(*KOSME.b.chars), [[:text, KOSME]]),
      FrameCase.new("6.3.1", [frame(:text, broken)], code: 1007),
      FrameCase.new("6.3.2", fragments(*broken.b.chars), code: 1007)
    ]
  end

  # The end is not waited for, once a byte is wrong: the last part is never sent. 6.4.1 and 6.4.2: in frames of their
  # own, the wrong character and its first wrong byte; 6.4.3 and 6.4.4: within one frame.
  def utf8_at_once
    whole = "#{KOSME}\xf4\x90\x80\x80edited".b
    [[11, 15], [12, 13]].each_with_index.flat_map do |(wrong_at, wrong_to), index|
      first, second, = fragments(whole[0...wrong_at], whole[wrong_at...wrong_to], whole[wrong_to..])
      one = frame(:text, whole)
      [FrameCase.new("6.4.#{index + 1}", [first + frame(:ping), [:pong, ""], second], code: 1007),
       FrameCase.new("6.4.#{index + 3}", [one[0...(6 + wrong_at)], one[(6 + wrong_at)...(6 + wrong_to)]], code: 1007)]
    end
  end

  def utf8_sequences
    utf8_groups.each.with_index(5).flat_map do |sequences, group|
      sequences.each.with_index(1).map do |bytes, number|
        text = bytes.dup.force_encoding(Encoding::UTF_8)
        valid = text.valid_encoding?
        FrameCase.new("6.#{group}.#{number}", [frame(:text, bytes)], valid ? [[:text, text]] : [], code: valid ? :client : 1007)
      end
    end
  end

  # 6.5 to 6.23.
  def utf8_groups
    sizes = (2..6).to_a
    largest = [0x7f, 0x7ff, 0xffff, 0x1fffff, 0x3ffffff, 0x7fffffff] # of each size
    smallest = [0, *largest.map { |code| code + 1 }]
    missing = (sizes.map { |size| encoded(0, size) } + sizes.map { |size| encoded(largest[size - 1], size) }).map { |bytes| bytes[0..-2] }
    surrogates = [[0xd800, 0xdb7f, 0xdb80, 0xdbff], [0xdc00, 0xdfff]]
    [
      ["$", "\u00a2", "\u20ac", "\u{24b62}"].map { |sign| "hello#{sign}world".b } << KOSME.b,
      (1..KOSME.bytesize).map { |length| KOSME.b[0, length] },
      smallest[0, 4].zip(1..4).map { |code, size| encoded(code, size) },
      smallest[4, 2].zip(5..6).map { |code, size| encoded(code, size) },
      [0x7f, 0x7ff, 0xffff, 0x10ffff].zip(1..4).map { |code, size| encoded(code, size) },
      largest[3, 3].zip(4..6).map { |code, size| encoded(code, size) },
      [0xd7ff, 0xe000, 0xfffd].map { |code| encoded(code, 3) } + [0x10ffff, 0x110000].map { |code| encoded(code, 4) },
      ["\x80".b, "\xbf".b, *(2..6).map { |length| ("\x80\xbf".b * 3)[0, length] }, (0x80..0xbf).to_a.pack("C*")],
      [0xc0..0xdf, 0xe0..0xef, 0xf0..0xf7, 0xf8..0xfb, 0xfc..0xfd].map { |starts| starts.flat_map { |byte| [byte, 0x20] }.pack("C*") },
      missing,
      [missing.join],
      ["\xfe".b, "\xff".b, "\xfe\xfe\xff\xff".b],
      sizes.map { |size| encoded("/".ord, size) },
      sizes.map { |size| encoded(largest[size - 2], size) },
      sizes.map { |size| encoded(0, size) },
      [0xd800, 0xdb7f, 0xdb80, 0xdbff, 0xdc00, 0xdf80, 0xdfff].map { |code| encoded(code, 3) },
      surrogates.first.product(surrogates.last).map { |pair| pair.map { |code| encoded(code, 3) }.join },
      [0xfffe, 0xffff].map { |code| encoded(code, 3) } + non_characters.map { |code| encoded(code, 4) },
      (0xfff9..0xffff).map { |code| encoded(code, 3) }
    ]
  end

  # The last two of each plane above the first.
  def non_characters
    (1..16).flat_map { |plane| [(plane << 16) + 0xfffe, (plane << 16) + 0xffff] }
  end

  # As UTF-8 would write it in so many bytes, up to 6, whether or not it may.
  def encoded(code, size)
    return [code].pack("C") if size == 1

    rest = (size - 2).downto(0).map { |at| 0x80 | ((code >> (6 * at)) & 0x3f) }
    [((0xff00 >> size) & 0xff) | (code >> (6 * (size - 1))), *rest].pack("C*")
  end
end
