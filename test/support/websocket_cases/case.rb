# frozen_string_literal: true

require_relative "../websocket_client"

module WebSocketCases
  # Something else came than must.
  Wrong = Class.new(StandardError)

  # How every case ends: by a close handshake and a clean end of TCP.
  class Case
    CLIENT = :client # closes, by 1000
    OVER = :over # the close handshake was among what was sent and came

    # @return [String]
    attr_reader :id
    # @return [String, nil] of extensions; nil: none, whatever else is agreed upon in this run
    attr_reader :offer

    # @param offer [String, nil, Symbol] :any where it does not matter
    def initialize(id, offer: :any)
      @id = id
      @offer = offer
    end

    # @return [Boolean] whether it may run with permessage-deflate agreed upon
    def any_offer?
      offer == :any
    end

    private

    # @param code [Integer, nil] of a close
    def expect(client, type, data, code = nil)
      event = client.event
      return if event&.type == type && event.data.b == data.b && event.code == code

      raise Wrong, "#{described(event)} instead of #{type} #{code} #{excerpt(data)}"
    end

    # @param code [Integer, nil, Symbol] of the server's close frame
    def expect_end(client, code, close_sent: false)
      if code == CLIENT
        client.send_close(1000)
        expect_close(client, 1000)
      elsif code != OVER
        expect_close(client, code)
        client.send_close(code) unless close_sent
      end
      raise Wrong, "a reset after the close" unless client.ended?
    end

    def expect_close(client, code)
      event = client.event
      raise Wrong, "#{described(event)} instead of close #{code}" unless event&.type == :close && event.code == code
    end

    def described(event)
      event ? "#{event.type} #{event.code} #{excerpt(event.data)}" : "an end without a close"
    end

    def excerpt(data)
      "#{data.bytesize} bytes #{data.b[0, 40].inspect}"
    end
  end

  # Bytes that are sent as they are, and what must come for them.
  class FrameCase < Case
    # @param sent [Array<String, Array>] bytes, each written for itself; or what must come before the
    #   next are: type, data, and the code of a close
    # @param expected [Array<Array(Symbol, String)>] what comes before the close
    # @param code [Integer, nil, Symbol] of the server's close frame
    # @param closes [Boolean] whether a close frame is among what is sent
    def initialize(id, sent, expected = [], code: CLIENT, closes: false, **options)
      super(id, **options)
      @sent = sent
      @expected = expected
      @code = code
      @closes = closes
    end

    # @raise [Wrong]
    def run(client)
      @sent.each { |item| item.is_a?(Array) ? expect(client, *item) : client.write(item) }
      @expected.each { |type, data| expect(client, type, data) }
      expect_end(client, @code, close_sent: @closes)
    end
  end

  # Messages that must come back, one after another.
  class EchoCase < Case
    # @param type [Symbol]
    # @param messages [Enumerable<String>]
    # @param fragment [Integer, nil] payload bytes of a frame
    # @param chop [Integer, nil] bytes of a write
    # @param compress [Boolean]
    # @param agreed [String, nil] what the server must answer to the offer
    def initialize(id, type, messages, fragment: nil, chop: nil, compress: false, agreed: nil, **options)
      super(id, **options)
      @type = type
      @messages = messages
      @fragment = fragment
      @chop = chop
      @compress = compress
      @agreed = agreed
    end

    # @raise [Wrong]
    def run(client)
      raise Wrong, "#{client.extensions} was agreed upon" if @agreed && client.extensions != @agreed

      @messages.each do |message|
        send(client, message)
        expect(client, @type, message)
      end
      expect_end(client, CLIENT)
    end

    private

    def send(client, message)
      payload = @compress ? client.deflated(message) : message.b
      pieces = WebSocketCases.slices(payload, @fragment)
      bytes = pieces.each_with_index.map { |piece, index| frame(piece, index, pieces.size - 1) }.join
      WebSocketCases.slices(bytes, @chop).each { |slice| client.write(slice) }
    end

    def frame(piece, index, last)
      rsv = @compress && index.zero? ? WebSocketFrame::RSV1 : 0
      WebSocketFrame.write(index.zero? ? @type : :continuation, piece, fin: index == last, rsv: rsv)
    end
  end

  module_function

  # @return [Array<String>] of `size` bytes each
  def slices(bytes, size)
    return [bytes] if size.nil? || bytes.bytesize <= size

    (0...bytes.bytesize).step(size).map { |at| bytes.byteslice(at, size) }
  end

  def frame(...)
    WebSocketFrame.write(...)
  end

  # @return [Array<String>] the bytes of all the frames, one by one
  def octets(*frames)
    frames.join.b.chars
  end

  # A text in as many frames as there are pieces.
  #
  # @return [Array<String>]
  def fragments(*pieces)
    pieces.each_with_index.map do |piece, index|
      frame(index.zero? ? :text : :continuation, piece, fin: index == pieces.size - 1)
    end
  end
end
