# frozen_string_literal: true

require "json"
require "socket"
require "timeout"

# A client of Action Cable that sees every frame.
class CableClient
  READ_MAX = 30 # seconds
  TEXT = 1
  BINARY = 2
  CLOSE = 8
  PING = 9
  PONG = 10
  BEAT = '{"type":"ping"'

  # @return [Hash] the head of the answer, by names in lower case, its status as "status"
  attr_reader :head

  def self.open(...)
    client = new(...)
    yield client
  ensure
    client&.end
  end

  # @param port [Integer]
  # @param query [String]
  # @param fields [Hash{String => String, nil}] beside or in the place of the usual ones
  def initialize(port, query, fields = {})
    @socket = TCPSocket.new("127.0.0.1", port)
    @socket.setsockopt(:TCP, :NODELAY, true)
    all = { "Host" => "127.0.0.1:#{port}", "Connection" => "Upgrade", "Upgrade" => "websocket", "Origin" => "http://127.0.0.1:#{port}",
            "Sec-WebSocket-Version" => "13", "Sec-WebSocket-Key" => "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol" => "actioncable-v1-json, actioncable-unsupported", **fields }
    @socket.write("GET /cable?#{query} HTTP/1.1\r\n#{all.compact.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n")
    @head = waiting { read_head }
  end

  # @param fields [Hash] of a command
  def command(fields)
    send_frame(TEXT, JSON.generate(fields))
  end

  def subscribe(identifier)
    command(command: "subscribe", identifier: JSON.generate(identifier))
  end

  # Subscribes, and waits until it is confirmed.
  def join(identifier)
    subscribe(identifier)
    await { |message| message["type"] == "confirm_subscription" && message["identifier"] == JSON.generate(identifier) }
  end

  def perform(identifier, action, data = {})
    command(command: "message", identifier: JSON.generate(identifier), data: JSON.generate({ action: action, **data }))
  end

  # @param opcode [Integer]
  # @param payload [String]
  def send_frame(opcode, payload)
    @closing = true if opcode == CLOSE
    payload = payload.b
    length = payload.bytesize < 126 ? [0x80 | payload.bytesize].pack("C") : [0x80 | 126, payload.bytesize].pack("Cn")
    @socket.write([0x80 | opcode].pack("C") + length + "\0\0\0\0" + payload) # a mask of zeros changes nothing
  end

  # @return [Array(Integer, String), nil] the next frame that is no ping; nil when there is none any more
  def frame
    loop do
      opcode, payload = waiting { read_frame }
      return unless opcode

      answer(opcode, payload)
      return [opcode, payload] unless opcode == PING || payload.start_with?(BEAT)
    end
  end

  # @return [Hash] the next message
  def message
    opcode, payload = frame
    opcode == TEXT ? JSON.parse(payload) : raise("no message but #{opcode.inspect} #{payload.inspect}")
  end

  # @return [Hash] the first message for which the block is true
  def await
    loop do
      found = message
      return found if yield(found)
    end
  end

  # @return [Array] all frames until the connection ends
  def frames
    Enumerator.produce { frame }.take_while(&:itself)
  end

  # @return [String] the content of an answer that is no upgrade
  def rest
    waiting { @socket.read(Integer(head["content-length"])) }
  end

  # Waits for Action Cable's sign of life.
  def await_beat
    waiting { nil until read_frame.last.start_with?(BEAT) }
  end

  def end
    @socket.close
  end

  private

  def read_head
    status = @socket.gets.split[1]
    lines = []
    lines << @socket.gets.chomp until lines.last == ""
    lines[0..-2].to_h { |line| line.split(/:\s*/, 2).then { |name, value| [name.downcase, value] } }.merge("status" => status)
  end

  def read_frame
    head = @socket.read(2) or return
    opcode, length = head.unpack("CC")
    length = @socket.read(2).unpack1("n") if length == 126
    [opcode & 0x0f, @socket.read(length).force_encoding(Encoding::UTF_8)]
  rescue Errno::ECONNRESET
    nil
  end

  def answer(opcode, payload)
    send_frame(PONG, payload) if opcode == PING
    send_frame(CLOSE, payload) if opcode == CLOSE && !@closing
  rescue Errno::EPIPE, Errno::ECONNRESET
    nil # it did not wait for it
  end

  def waiting(&block)
    Timeout.timeout(READ_MAX, &block)
  end
end
