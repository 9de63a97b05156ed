# frozen_string_literal: true

# A frame of RFC 6455, section 5.2, as a server sends it, and the bytes of one as a client does.
WebSocketFrame = Struct.new(:opcode, :fin, :rsv, :payload) do
  # @param opcode [Symbol, Integer]
  # @param rsv [Integer] RSV1, RSV2, RSV3
  # @param mask [String, nil] 4 bytes; nil: without a mask, which no client may
  # @param length [Integer] that is said in the place of the payload's
  # @return [String]
  def self.write(opcode, payload = "", fin: true, rsv: 0, mask: self::MASK, length: payload.bytesize)
    number = self::OPCODES.fetch(opcode, opcode)
    first = (fin ? 0x80 : 0) | rsv | number
    head = [first].pack("C") + written_length(length, mask ? 0x80 : 0)
    mask ? head + mask.b + masked(payload, mask) : head + payload.b
  end

  # Takes one out of the buffer `bytes`.
  #
  # @return [WebSocketFrame, nil] nil: there is not a whole one yet
  def self.read(bytes)
    first, second = bytes.unpack("CC")
    return unless second
    raise "a server's frame has a mask" if second.anybits?(0x80)

    head, length = read_length(bytes, second)
    return if length.nil? || bytes.bytesize < head + length

    bytes.slice!(0, head)
    new(self::NAMES.fetch(first & 0x0f), first.anybits?(0x80), first & 0x70, bytes.slice!(0, length))
  end

  # @return [String] `payload` with the mask on, or taken off
  def self.masked(payload, mask)
    return payload.b if mask.b == "\0\0\0\0".b

    padded = payload.b + ("\0" * (-payload.bytesize % 8))
    pattern = (mask * 2).unpack1("Q")
    padded.unpack("Q*").map { |word| word ^ pattern }.pack("Q*").byteslice(0, payload.bytesize)
  end

  def self.written_length(length, bit)
    return [bit | length].pack("C") if length < 126

    length < 65_536 ? [bit | 126, length].pack("Cn") : [bit | 127, length].pack("CQ>")
  end

  def self.read_length(bytes, second)
    case second
    when 126 then [4, bytes.unpack1("@2n")]
    when 127 then [10, bytes.unpack1("@2Q>")]
    else [2, second]
    end
  rescue ArgumentError # "@2" is outside of so few bytes
    nil
  end
  private_class_method :written_length, :read_length

  def control?
    %i[close ping pong].include?(opcode)
  end
end

WebSocketFrame::OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 }.freeze
WebSocketFrame::NAMES = WebSocketFrame::OPCODES.invert.freeze
WebSocketFrame::MASK = "\x37\xfa\x21\x3d".b.freeze
WebSocketFrame::RSV1 = 0x40
WebSocketFrame::RSV2 = 0x20
WebSocketFrame::RSV3 = 0x10
