# frozen_string_literal: true

require "digest/sha1" # all of it: "digest" loads the rest at its first use, which several threads may come to at once
require "securerandom"
require "zlib"
require_relative "tls_client"
require_relative "websocket_frame"

# A WebSocket client that sends what it is told to, right or wrong, and takes from the server nothing but what
# RFC 6455 and RFC 7692 allow. Whatever it waits for, it waits for so long at most.
class WebSocketClient
  WAIT_MAX = 30 # seconds
  READ_BYTES = 65_536
  ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  TAIL = "\x00\x00\xff\xff".b.freeze # that messages are compressed without: RFC 7692, section 7.2.1

  # The server has done what no server may, or nothing for too long.
  Error = Class.new(StandardError)

  # The handshake was answered by something else than 101.
  class Refused < Error
    # @return [RawClient::Response]
    attr_reader :response

    def initialize(response)
      @response = response
      super("the handshake was answered with #{response&.status.inspect}")
    end
  end

  # What the server has sent. `type` is :text, :binary, :ping, :pong or :close; of a close, `data` is the reason, and
  # `code` its code, or nil.
  Event = Struct.new(:type, :data, :code)

  # The same as new, and closes the socket at the end of the block.
  def self.open(...)
    client = new(...)
    yield client
  ensure
    client&.close_socket
  end

  # @return [RawClient::Response] the answer to the handshake
  attr_reader :response
  # @return [Integer, nil] what the server's close frame has said, once it has been received
  attr_reader :close_code
  # @return [String, nil]
  attr_reader :close_reason
  # @return [Integer] how many bytes of payload the last message was sent in
  attr_reader :message_bytes

  # Connects and does the handshake.
  #
  # @param path [String]
  # @param headers [Hash{String => String, nil}] of the request beside its own, or in their place; nil: without that
  # @param offer [String, nil] of extensions: "permessage-deflate"
  # @param protocols [String, nil] Sec-WebSocket-Protocol
  # @param tls [Boolean, Hash] whether by TLS; settings of TLSClient
  # @param ahead [String] bytes that are sent with the request
  # @raise [Refused] when the server does not say 101
  # @raise [Error] when its 101 is wrong
  def initialize(port, path = "/", headers: {}, offer: nil, protocols: nil, tls: false, ahead: "")
    @raw = connect(port, tls)
    @socket = @raw.socket
    @received = +"".b
    @message = nil
    shake_hands(path, headers, offer, protocols, ahead)
  rescue StandardError
    close_socket
    raise
  end

  # @return [IO] which is readable once the server has sent more
  def to_io
    @raw.socket.to_io
  end

  # @return [String, nil] what the server agreed to
  def extensions
    response.headers["sec-websocket-extensions"]&.join(", ")
  end

  # @return [String, nil]
  def protocol
    response.headers["sec-websocket-protocol"]&.first
  end

  # @param compress [Boolean] whether by permessage-deflate, which must have been agreed upon
  def send_text(text, compress: false)
    send_message(:text, text, compress)
  end

  def send_binary(bytes, compress: false)
    send_message(:binary, bytes, compress)
  end

  def ping(data = "")
    send_frame(:ping, data)
  end

  def pong(data = "")
    send_frame(:pong, data)
  end

  # @param code [Integer, nil]
  def send_close(code = 1000, reason = "")
    send_frame(:close, code ? [code].pack("n") + reason.b : "")
  end

  # @see WebSocketFrame.write
  def send_frame(opcode, payload = "", **settings)
    write(WebSocketFrame.write(opcode, payload, **settings))
  end

  # Any bytes. What comes meanwhile is taken, so that none waits for the other.
  #
  # @raise [Error] when the server has gone
  def write(bytes)
    rest = bytes.b
    until rest.empty?
      case (sent = @socket.write_nonblock(rest, exception: false))
      when Integer then rest = rest.byteslice(sent..)
      else await_writable
      end
    end
  rescue Errno::EPIPE, Errno::ECONNRESET, OpenSSL::SSL::SSLError => e
    raise Error, "the server does not read any more: #{e.message}"
  end

  # @return [String] how `payload` is written by permessage-deflate, with the context that was agreed upon
  def deflated(payload)
    @deflate ||= Zlib::Deflate.new(6, -@deflate_bits)
    text = @deflate.deflate(payload, Zlib::SYNC_FLUSH).delete_suffix(TAIL)
    @deflate.reset if @deflate_anew
    text
  end

  # Says nothing any more; a ping and a close are not answered then.
  def close_write
    @silent = true
    @socket.close_write
  end

  # The next text or binary message. Pings are answered, pongs passed over; a close is answered unless it is one.
  #
  # @return [String, nil] text is UTF-8, else BINARY; nil: the server closes
  def receive
    loop do
      event = self.event
      case event&.type
      when :text, :binary then return event.data
      when :ping then pong(event.data) unless @silent
      when nil then return
      when :close then return answer_close(event)
      end
    end
  end

  # What comes next, and is not answered.
  #
  # @return [Event, nil] nil: the connection has ended cleanly
  def event
    while (frame = receive_frame)
      event = frame.control? ? control_event(frame) : message_event(frame)
      return event if event
    end
  end

  # @return [WebSocketFrame, nil] nil: the connection has ended cleanly
  def receive_frame
    until (frame = WebSocketFrame.read(@received))
      return @received.empty? ? nil : raise(Error, "the connection has ended amid a frame") unless fill
    end
    frame
  end

  # The close handshake, from the client's side. Messages that come before the server's close are given up.
  #
  # @return [Integer, nil] the server's code
  def close(code = 1000, reason = "")
    unless @close_sent
      send_close(code, reason)
      @close_sent = true
    end
    nil while receive
    close_code
  end

  # @return [Boolean] whether the connection has ended with nothing more, and cleanly; false: it was reset
  def ended?
    frame = receive_frame
    raise Error, "the server sends more: #{frame}" if frame

    true
  rescue Errno::ECONNRESET, OpenSSL::SSL::SSLError
    false
  end

  def close_socket
    @raw&.close
  end

  private

  def connect(port, tls)
    return RawClient.new(port) unless tls

    tls == true ? TLSClient.new(port) : TLSClient.new(port, **tls)
  end

  def send_message(type, data, compress)
    compress ? send_frame(type, deflated(data), rsv: WebSocketFrame::RSV1) : send_frame(type, data)
  end

  def shake_hands(path, headers, offer, protocols, ahead)
    key = SecureRandom.base64(16)
    fields = { "Host" => "test", "Upgrade" => "websocket", "Connection" => "Upgrade", "Sec-WebSocket-Version" => "13",
               "Sec-WebSocket-Key" => key, "Sec-WebSocket-Extensions" => offer, "Sec-WebSocket-Protocol" => protocols }
    lines = fields.merge(headers).compact.map { |name, value| "#{name}: #{value}\r\n" }
    write("GET #{path} HTTP/1.1\r\n#{lines.join}\r\n".b + ahead)
    @response = read_response
    check_response(key)
    agree_on_deflate
  end

  def read_response
    fill || raise(Error, "the connection has ended before an answer") until (head_end = @received.index("\r\n\r\n"))
    line, *fields = @received.slice!(0, head_end + 4).split("\r\n")
    headers = fields.map { |field| field.split(": ", 2) }.group_by { |name, _| name.downcase }
    RawClient::Response.new(line[/\AHTTP\/1\.1 (\d{3}) /, 1].to_i, headers.transform_values { |all| all.map(&:last) }, "")
  end

  def check_response(key)
    raise Refused, response unless response.status == 101

    expected = { "upgrade" => ["websocket"], "sec-websocket-accept" => [Digest::SHA1.base64digest(key + ACCEPT_GUID)] }
    wrong = expected.reject { |name, value| response.headers[name] == value }
    raise Error, "the handshake lacks #{wrong}" unless wrong.empty?
    raise Error, "the handshake lacks Connection" unless response.headers["connection"]&.grep(/\bupgrade\b/i)&.any?
  end

  # RFC 7692, section 7.1: who compresses with which window, and whether anew for each message.
  def agree_on_deflate
    return unless extensions

    name, *parameters = extensions.split(/;\s*/)
    raise Error, "the server wants #{name}" unless name == "permessage-deflate"

    terms = parameters.to_h { |parameter| parameter.partition("=").values_at(0, 2) }
    @deflate_bits = terms.fetch("client_max_window_bits", 15).to_i
    @deflate_anew = terms.key?("client_no_context_takeover")
    @inflate = Zlib::Inflate.new(-terms.fetch("server_max_window_bits", 15).to_i)
    @inflate_anew = terms.key?("server_no_context_takeover")
  end

  def control_event(frame)
    raise Error, "no control frame is like this: #{frame}" if !frame.fin || frame.rsv != 0 || frame.payload.size > 125

    frame.opcode == :close ? close_event(frame.payload) : Event.new(frame.opcode, frame.payload)
  end

  def close_event(payload)
    raise Error, "half a code in a close frame" if payload.bytesize == 1

    @close_code, reason = payload.unpack("na*")
    @close_reason = (reason || "").force_encoding(Encoding::UTF_8)
    raise Error, "the reason is not UTF-8" unless @close_reason.valid_encoding?

    Event.new(:close, @close_reason, @close_code)
  end

  # Adds to the message that is coming; nil until it is whole.
  def message_event(frame)
    begins = frame.opcode != :continuation
    raise Error, "no such frame belongs here: #{frame}" unless may_come?(frame, begins)

    @message = frame.dup.tap { |message| message.payload = +"".b } if begins
    @message.payload << frame.payload
    whole_message if frame.fin
  end

  def may_come?(frame, begins)
    begins == @message.nil? && (frame.rsv.zero? || (frame.rsv == WebSocketFrame::RSV1 && begins && @inflate))
  end

  def whole_message
    message = @message
    @message = nil
    @message_bytes = message.payload.bytesize
    data = message.rsv.zero? ? message.payload : inflated(message.payload)
    Event.new(message.opcode, decoded(message.opcode, data))
  end

  def inflated(payload)
    text = @inflate.inflate(payload + TAIL)
    @inflate.reset if @inflate_anew
    text
  end

  def decoded(type, data)
    return data if type == :binary

    data.force_encoding(Encoding::UTF_8).tap { |text| raise Error, "a text is not UTF-8" unless text.valid_encoding? }
  end

  def answer_close(event)
    send_close(event.code) unless @close_sent || @silent
    @close_sent = true
    nil
  end

  # Takes what comes. Returns false at the end of the connection.
  def fill
    loop do
      case (bytes = @socket.read_nonblock(READ_BYTES, exception: false))
      when String then return @received << bytes
      when nil then return false
      when :wait_readable then await(@raw.socket.to_io.wait_readable(WAIT_MAX))
      else await(@raw.socket.to_io.wait_writable(WAIT_MAX))
      end
    end
  end

  def await_writable
    io = @socket.to_io
    readable, = await(IO.select([io], [io], nil, WAIT_MAX))
    bytes = readable.any? && @socket.read_nonblock(READ_BYTES, exception: false)
    @received << bytes if bytes.is_a?(String)
  end

  def await(result)
    result || raise(Error, "the server does nothing for #{WAIT_MAX} seconds")
  end
end
