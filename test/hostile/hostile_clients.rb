# frozen_string_literal: true

require "socket"
require_relative "plain_or_tls_socket"

# One hostile client after another, as a seed determines: malformed and cut requests, resets at any byte, pipelining, huge heads, chunked
# oddities, crowds, clients that leave while they are answered.
class HostileClients
  CORPUS = Dir[File.expand_path("../../fuzz/corpus/http_{parser,chunked}/*", __dir__)].map { |path| File.binread(path) }
  PATHS = %w[/ /echo /lines /big /file /each /stream /duplex /thread /hijack /partial /hints /finished /raise /raise-late /wrong-length
             /no-response /sleep /probe].freeze
  READ_MAX = 0.2 # seconds without a byte, after which a client leaves
  STALL_MAX = 0.05
  CROWD = 40
  HUGE = 200_000
  MANNERS = %i[ask ask ask pipeline mutate mutate corpus chunked huge trickle crowd].freeze

  # @param port [Integer]
  # @param seed [Integer]
  def initialize(port, seed)
    @port = port
    @random = Random.new(seed)
  end

  # @return [Integer] visits
  def run(seconds)
    deadline = now + seconds
    visits = 0
    while now < deadline
      visit
      visits += 1
    end
    visits
  end

  private

  def visit
    send(pick(MANNERS))
  rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
    nil # a client that is refused or reset has got what it asked for
  end

  def ask = converse(request)

  def pipeline = converse(Array.new(2 + @random.rand(20)) { request }.join)

  def mutate
    text = request
    (1 + @random.rand(4)).times { text.setbyte(@random.rand(text.bytesize), @random.rand(256)) }
    converse(text)
  end

  def corpus = converse(pick(CORPUS) + (@random.rand(2).zero? ? request : ""))

  def chunked
    sizes = ["0", "1", "5;a=\"b\"", "-1", "0x5", "FFFFFFFFFFFFFFFFF", "5\t", "", "7fffffff", "5"]
    chunks = Array.new(@random.rand(6)) { "#{pick(sizes)}#{pick(%W[\r\n \n \r])}hello#{pick(%W[\r\n \n])}" }.join
    last = pick(["0\r\n\r\n", "0\r\nA: b\r\n\r\n", ""])
    converse("POST #{pick(PATHS)} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n#{chunks}#{last}")
  end

  def huge
    fields = pick([-> { "X: #{"a" * @random.rand(HUGE)}\r\n" }, -> { "X-#{@random.rand(10)}: b\r\n" * @random.rand(2000) }]).call
    converse("GET /#{"p" * pick([1, 9000])} HTTP/1.1\r\nHost: a\r\n#{fields}\r\n")
  end

  def trickle
    connect do |socket|
      request.each_char.first(40).each do |byte|
        socket.write(byte)
        sleep(@random.rand * 0.002)
      end
    end
  end

  def crowd
    sockets = Array.new(CROWD) { TCPSocket.new("127.0.0.1", @port) }
    sockets.each { |socket| socket.write_nonblock(request[0, @random.rand(100)], exception: false) }
    sockets.each { |socket| reset(socket) if @random.rand(2).zero? }
  ensure
    sockets&.each(&:close)
  end

  def request
    path = pick(PATHS)
    body = @random.rand(3).zero? ? @random.bytes(@random.rand(pick([100, 200_000]))) : ""
    length = body.empty? ? "" : "Content-Length: #{body.bytesize}\r\n"
    extra = pick(["", "", "Connection: close\r\n", "Expect: 100-continue\r\n", "Connection: upgrade\r\nUpgrade: x\r\n"])
    +"#{body.empty? ? pick(%w[GET HEAD OPTIONS]) : "POST"} #{path} HTTP/1.#{pick([1, 1, 1, 0])}\r\nHost: a\r\n#{extra}#{length}\r\n".b << body
  end

  # Sends all or a part of it, in pieces; then reads all or a part of what comes, and leaves in one of several ways.
  def converse(text)
    connect do |socket|
      text = text.byteslice(0, @random.rand(text.bytesize + 1)) if @random.rand(4).zero?
      write_in_pieces(socket, text)
      socket.to_io.close_write if @random.rand(4).zero?
      sleep(@random.rand * STALL_MAX) if @random.rand(8).zero?
      read(socket, pick([0, 1, 5000, Float::INFINITY, Float::INFINITY]))
      reset(socket) if @random.rand(3).zero?
    end
  end

  def connect
    socket = PlainOrTLSSocket.open(@port)
    yield socket
  ensure
    socket&.close
  end

  def write_in_pieces(socket, text)
    until text.empty?
      piece = @random.rand(2).zero? ? text.bytesize : 1 + @random.rand(text.bytesize)
      written = socket.write_nonblock(text.byteslice(0, piece), exception: false)
      return if written == :wait_writable && !socket.to_io.wait_writable(READ_MAX)

      text = text.byteslice(written..) unless written == :wait_writable
    end
  end

  def read(socket, bytes)
    while bytes.positive? && PlainOrTLSSocket.readable?(socket, READ_MAX)
      piece = socket.read_nonblock(16_384, exception: false) or return
      bytes -= piece.bytesize unless piece == :wait_readable
    end
  end

  def reset(socket) = socket.to_io.setsockopt(Socket::Option.linger(true, 0))

  def pick(list) = list[@random.rand(list.size)]

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
