# frozen_string_literal: true

require_relative "../websocket_client"

module WebSocketCases
  # Something else came than must.
  Wrong = Class.new(StandardError)

  # How every case ends: by a close handshake and a clean end of TCP.
  class Case
    CLIENT = :client # closes, by 1000

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

    def expect(client, type, data)
      event = client.event
      return if event&.type == type && event.data.b == data.b

      raise Wrong, "#{described(event)} instead of #{type} #{excerpt(data)}"
    end

    # @param code [Integer, nil, Symbol] of the server's close frame
    def expect_close(client, code, close_sent:)
      client.send_close(1000) if code == CLIENT
      event = client.event
      wanted = code == CLIENT ? 1000 : code
      raise Wrong, "#{described(event)} instead of close #{wanted}" unless event&.type == :close && event.code == wanted

      client.send_close(event.code) unless code == CLIENT || close_sent
      raise Wrong, "a reset after the close" unless client.ended?
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
    # @param sent [Array<String, Array(Symbol, String)>] bytes, each written for itself; or what must come before the
    #   next are, by type and data
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
      expect_close(client, @code, close_sent: @closes)
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
      expect_close(client, CLIENT, close_sent: false)
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
