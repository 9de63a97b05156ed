# frozen_string_literal: true

require_relative "case"

# Sections 12 and 13, and RFC 7692.
module WebSocketCases
  DEFLATE = "permessage-deflate"
  ANSWER = "#{DEFLATE}; server_no_context_takeover; client_no_context_takeover".freeze
  SAMPLE_BYTES = 256 * 1024

  # Lengths of a message, and of the payload of a frame.
  COMPRESSED = [16, 64, 256, 1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072].map { |length| [length, nil] } +
               [8192, 16_384, 32_768, 65_536, 131_072].map { |length| [length, 256] } +
               [1024, 4096, 32_768].map { |fragment| [131_072, fragment] }

  # What is asked of the server, and what it must say.
  OFFERS = {
    "#{DEFLATE}; client_no_context_takeover; client_max_window_bits" => ANSWER,
    "#{DEFLATE}; server_no_context_takeover; client_max_window_bits" => ANSWER,
    "#{DEFLATE}; server_max_window_bits=8; client_max_window_bits" => "#{ANSWER}; server_max_window_bits=8",
    "#{DEFLATE}; server_max_window_bits=15; client_max_window_bits" => "#{ANSWER}; server_max_window_bits=15",
    "#{DEFLATE}; server_no_context_takeover; server_max_window_bits=8" => "#{ANSWER}; server_max_window_bits=8",
    "#{DEFLATE}; server_no_context_takeover; server_max_window_bits=15" => "#{ANSWER}; server_max_window_bits=15",
    "#{DEFLATE}; server_no_context_takeover; server_max_window_bits=9, #{DEFLATE}; server_no_context_takeover, #{DEFLATE}" =>
      "#{ANSWER}; server_max_window_bits=9"
  }.freeze

  module_function

  def compression
    samples = self.samples
    [[DEFLATE, ANSWER]].product(samples.keys).each.with_index(1).flat_map do |((offer, answer), name), number|
      compressed("12.#{number}", offer, answer, samples[name], %i[json html].include?(name) ? :text : :binary)
    end + OFFERS.each.with_index(1).flat_map do |(offer, answer), number|
      compressed("13.#{number}", offer, answer, samples[:json], :text)
    end
  end

  def compressed(section, offer, answer, sample, type)
    COMPRESSED.each.with_index(1).map do |(length, fragment), number|
      count = FULL ? 1000 : [3 * 4096 / length, 1].max.clamp(1, 4)
      EchoCase.new("#{section}.#{number}", type, windows(sample, length, count), fragment: fragment, compress: true,
                                                                                 offer: offer, agreed: answer)
    end
  end

  # As many messages out of a sample, one behind the other, from the start again at its end.
  def windows(sample, length, count)
    Enumerator.new do |messages|
      count.times { |index| messages << sample.byteslice(index * length % (SAMPLE_BYTES - length + 1), length) }
    end
  end

  # All are ASCII, or binary: so they may be cut anywhere.
  #
  # @return [Hash{Symbol => String}] of SAMPLE_BYTES each
  def samples
    random = Random.new(7692)
    words = Array.new(500) { Array.new(random.rand(2..9)) { random.rand(97..122).chr }.join }
    { prose: -> { "#{words.sample(random.rand(4..12), random: random).join(" ").capitalize}.\n" },
      picture: -> { Array.new(512) { |x| ((x / 4) + random.rand(6)) & 0xff }.pack("C*") },
      noise: -> { random.bytes(4096) },
      json: -> { JSON.generate(id: random.rand(1_000_000), name: words.sample(random: random), tags: words.sample(3, random: random)) },
      html: -> { "<li class=\"#{words.sample(random: random)}\"><a href=\"/#{random.rand(9999)}\">#{words.sample(random: random)}</a></li>\n" } }
      .transform_values { |line| filled(line) }
  end

  def filled(line)
    sample = +"".b
    sample << line.call while sample.bytesize < SAMPLE_BYTES
    sample.byteslice(0, SAMPLE_BYTES)
  end

  # Not on the list: RFC 7692, sections 6 and 7.2, its examples among them, and what is no such message.
  def deflate_payloads
    deflate_forms + deflate_breaches + deflate_frames
  end

  def deflated_frame(hex, **options)
    frame(:text, [hex].pack("H*"), rsv: WebSocketFrame::RSV1, **options)
  end

  def deflated_byte(hex, index, last)
    index.zero? ? deflated_frame(hex, fin: false) : frame(:continuation, [hex].pack("H*"), fin: index == last)
  end

  def deflate_forms
    { "one block" => "f248cdc9c90700", "two blocks" => "f24805000000ffffcac9c90700",
      "a block without compression" => "000500faff48656c6c6f00", "a last block" => "f348cdc9c9070000",
      "an empty block behind" => "f248cdc9c907000000ffff00" }
      .map do |name, hex|
        FrameCase.new("deflate: #{name}", [deflated_frame(hex)] * 2, [[:text, "Hello"]] * 2, offer: DEFLATE)
      end + [
        FrameCase.new("deflate: nothing", [deflated_frame("00")], [[:text, ""]], offer: DEFLATE),
        FrameCase.new("deflate: a message that is not compressed", [frame(:text, "Hello")], [[:text, "Hello"]], offer: DEFLATE)
      ]
  end

  def deflate_breaches
    { "a window of a message before" => [%w[f248cdc9c90700 f200110000], 1007],
      "no blocks" => [%w[ffffffff], 1007],
      "text that is not UTF-8" => [[deflate_alone("a\xff")], 1007],
      "text that ends within a character" => [[deflate_alone("\xe2\x82")], 1007],
      "more than the server takes" => [[deflate_alone("\0" * (LARGEST + 1))], 1009] }
      .map do |name, (messages, code)|
        FrameCase.new("deflate: #{name}", messages.map { |hex| deflated_frame(hex) },
                      [[:text, "Hello"]] * (messages.size - 1), code: code, offer: DEFLATE)
      end
  end

  # @return [String] in hexadecimal digits
  def deflate_alone(text)
    Zlib::Deflate.new(6, -15).deflate(text, Zlib::SYNC_FLUSH).delete_suffix(WebSocketClient::TAIL).unpack1("H*")
  end

  # Where RSV1 may stand.
  def deflate_frames
    first = deflated_frame("f248cd", fin: false)
    rest = ["c9c90700"].pack("H*")
    rsv = WebSocketFrame::RSV1
    [
      FrameCase.new("deflate: in fragments", [first, frame(:continuation, rest)], [[:text, "Hello"]], offer: DEFLATE),
      FrameCase.new("deflate: each byte in a frame",
                    "f248cdc9c90700".scan(/../).each_with_index.map { |hex, at| deflated_byte(hex, at, 6) }, [[:text, "Hello"]], offer: DEFLATE),
      FrameCase.new("deflate: a ping among fragments", [first, frame(:ping, "a"), frame(:continuation, rest)],
                    [[:pong, "a"], [:text, "Hello"]], offer: DEFLATE),
      FrameCase.new("deflate: RSV1 of a continuation", [first, frame(:continuation, rest, rsv: rsv)], code: 1002, offer: DEFLATE),
      FrameCase.new("deflate: RSV1 of a ping", [frame(:ping, rsv: rsv)], code: 1002, offer: DEFLATE),
      FrameCase.new("deflate: RSV1 of a close", [frame(:close, "\x03\xe8", rsv: rsv)], code: 1002, offer: DEFLATE),
      FrameCase.new("deflate: RSV2", [frame(:text, rsv: WebSocketFrame::RSV2)], code: 1002, offer: DEFLATE),
      FrameCase.new("deflate: RSV1 without an offer", [deflated_frame("f248cdc9c90700")], code: 1002, offer: nil)
    ]
  end
end
