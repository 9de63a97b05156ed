# frozen_string_literal: true

require_relative "../../support/raw_client"
require_relative "../../support/websocket_client"

# A client of app.ru that knows which bytes are its own: one visit after another, of many kinds, at its pace.
class RandomClient
  Wrong = Class.new(StandardError)

  KINDS = { hello: 35, env: 15, echo: 20, file: 8, streamed: 8, promised: 5, failing: 2, feed: 3, room: 2, vanish: 2 }.freeze
  IN_TURN = KINDS.flat_map { |kind, times| [kind] * times }.freeze
  REQUESTS_KEPT = 50 # of a connection
  UPLOAD_MAX = 65_536 # bytes
  FILE = Random.new(1).bytes(100_000).freeze
  MARK = /m\d+x\d+/
  LINGER_NOT = [1, 0].pack("ii") # a client that leaves by a reset

  # @return [Integer]
  attr_reader :count
  # @return [Array<String>] what was wrong
  attr_reader :failures

  # @param number [Integer] no other's
  # @param interval [Float] seconds from one visit to the next
  def initialize(port, number, interval)
    @port = port
    @number = number
    @interval = interval
    @random = Random.new(number)
    @count = 0
    @failures = []
  end

  # @yieldreturn [Boolean] whether it is time to end
  def run
    due = now
    until yield
      visit
      due = [due + @interval, now].max
      sleep([due - now, 0].max)
    end
  ensure
    leave
  end

  private

  def visit
    @mark = "m#{@number}x#{@count += 1}"
    send(@kind = IN_TURN.sample(random: @random))
  rescue Wrong, WebSocketClient::Error, SystemCallError, IOError, Timeout::Error => e
    @failures << "#{@kind} #{@mark}: #{e.class}: #{e.message}"
    leave
  end

  def hello = expect(200, "hello #{@mark}", get)

  def env
    response = get
    found = response.body.scan(MARK).uniq
    raise Wrong, "#{response.status} with an env of #{found}" unless response.status == 200 && found == [@mark]
  end

  def echo
    content = @random.bytes(@random.rand(4).zero? ? @random.rand(UPLOAD_MAX + 1) : @random.rand(1000))
    response = ask("POST /echo?#{@mark} HTTP/1.1\r\nHost: a\r\nContent-Length: #{content.bytesize}\r\n\r\n".b + content)
    expect(200, content, response)
    told = response.headers.values_at("x-mark", "x-sum")
    raise Wrong, "marked #{told}" unless told == [[@mark], [content.sum.to_s]]
  end

  def file = expect(200, FILE, get)

  def streamed = expect(200, Array.new(5) { |number| "#{@mark} #{number}\n" }.join, get)

  def promised = expect(200, "#{@mark} one two", get)

  def failing = expect(500, "500 Internal Server Error\n", get)

  def feed
    RawClient.open(@port) do |client|
      client.write("GET /feed?#{@mark} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
      heard = Timeout.timeout(RawClient::READ_MAX) { hear(client.socket, 3) }
      expected = Array.new(3) { |number| "#{@mark} #{number}" }
      raise Wrong, "heard #{heard}" unless heard == expected
    end
  end

  # Its own events, among those that others publish.
  def hear(socket, count)
    heard = []
    while heard.size < count
      data = (socket.gets || raise(Wrong, "the stream has ended after #{heard}"))[/\Adata: (.*)\n/, 1]
      heard << data unless data.nil? || data.start_with?("all ")
    end
    heard
  end

  def room
    WebSocketClient.open(@port, "/room?#{@mark}") do |client|
      await(client, "open")
      ["text ä #{@mark}", @random.bytes(@random.rand(20_000))].each do |data|
        data.encoding == Encoding::BINARY ? client.send_binary(data) : client.send_text(data)
        await(client, data)
      end
      ["all", @mark].each do |channel|
        client.send_text("publish #{channel} #{channel} #{@mark} by #{@mark}")
        await(client, "#{channel} #{@mark} by #{@mark}")
      end
      client.close if @random.rand(2).zero?
    end
  end

  def await(client, expected)
    loop do
      data = client.receive
      return if data == expected
      raise Wrong, "#{data.inspect[0, 100]} in the place of #{expected.inspect[0, 100]}" unless data&.start_with?("all m")
    end
  end

  # Before it is answered, or amid the answer.
  def vanish
    RawClient.open(@port) do |client|
      client.write(["GET /file?#{@mark} HTTP/1.1\r\nHost: a\r\n\r\n", "POST /echo?#{@mark} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nab",
                    "GET /fe"].sample(random: @random))
      client.socket.setsockopt(:SOCKET, :LINGER, LINGER_NOT) if @random.rand(2).zero?
    end
  end

  def get
    ask("GET /#{@kind}?#{@mark} HTTP/1.1\r\nHost: a\r\n\r\n")
  end

  def ask(request)
    leave if @kept.to_i >= REQUESTS_KEPT
    @client ||= RawClient.new(@port)
    @kept = @kept.to_i + 1
    @client.write(request)
    @client.response || raise(Wrong, "no response")
  end

  def expect(status, body, response)
    return if response.status == status && response.body.b == body.b

    raise Wrong, "#{response.status} with #{response.body.bytesize} bytes: #{response.body[0, 100].inspect}"
  end

  def leave
    @client&.close
    @client = @kept = nil
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
