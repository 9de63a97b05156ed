# frozen_string_literal: true

require_relative "checking_websocket_client"

# Clients one after another, of many kinds, as a seed determines.
class RandomWebSocketClients
  CHANNELS = %w[all c1 c2 c3].freeze
  PATTERNS = %w[c* c? *].freeze
  KINDS = %i[talk talk talk talk talk feed feed hurry cut wrong half_close slow flood].freeze
  STEPS = %i[echo echo_binary echo_compressed fragments subscribe subscribe pattern unsubscribe publish publish publish_in_thread
             command later].freeze
  ENDS = %i[close close closed closed_in_thread raised reset vanish].freeze
  STEPS_MAX = 25
  PAYLOAD_MAX = 40_000
  PIECE = ("x" * 65_536).b.freeze
  RESET = Socket::Option.linger(true, 0)
  WRONG = [
    ->(client) { client.send_frame(3) }, # no such opcode
    ->(client) { client.send_frame(:text, "a", mask: nil) },
    ->(client) { client.send_frame(:text, "a", rsv: 0x20) },
    ->(client) { client.send_frame(:continuation, "a") },
    ->(client) { client.send_frame(:ping, "a", fin: false) },
    ->(client) { client.send_frame(:ping, "a" * 126) },
    ->(client) { client.send_text("\xff\xfe") },
    ->(client) { client.send_frame(:close, "\x03") },
    ->(client) { client.send_close(1005) },
    ->(client) { client.send_frame(:text, "", length: 1 << 62) },
    ->(client) { client.send_frame(:text, "garbage", rsv: 0x40) }
  ].freeze

  # @param name [String] no other's
  # @param restarts [Boolean] whether workers are replaced meanwhile, so that any client may be sent away
  def initialize(port, name, seed, restarts)
    @port = port
    @name = name
    @random = Random.new(seed)
    @restarts = restarts
    @counts = Hash.new(0)
    @failures = []
    @number = 0
  end

  # @return [Array(Hash{Symbol => Integer}, Array<String>)] how often what was done, and what was wrong
  def run(seconds)
    deadline = now + seconds
    visit(pick(KINDS)) while now < deadline
    [@counts, @failures.first(5)]
  end

  private

  def visit(kind)
    @mark = "#{@name}-#{@number += 1}"
    @sequence = 0
    @counts[kind] += 1
    send(kind)
  rescue CheckingWebSocketClient::Ended, WebSocketClient::Error, SystemCallError, IOError => e
    sent_away(kind, e)
  rescue CheckingWebSocketClient::Wrong => e
    @failures << "#{kind}: #{e.message}"
  end

  def sent_away(kind, error)
    return @counts[:sent_away] += 1 if @restarts && !error.message.include?("does nothing")

    @failures << "#{kind} #{@mark} at #{@step}: #{error.class}: #{error.message} #{error.backtrace.grep(/clients_soak/).first(3)}"
  end

  def talk
    errand(offer: pick([nil, "permessage-deflate"])) do |errand|
      @random.rand(STEPS_MAX).times { send(@step = pick(STEPS), errand) }
      send(@step = pick(ENDS), errand)
    end
  end

  def errand(**options)
    errand = CheckingWebSocketClient.new(@port, @mark, @counts, **options)
    yield errand
  ensure
    errand&.client&.close_socket
  end

  # Steps

  def echo(errand) = errand.echo("ä" * @random.rand(PAYLOAD_MAX / 2))

  def echo_binary(errand) = errand.echo(@random.bytes(@random.rand(PAYLOAD_MAX)))

  def echo_compressed(errand) = errand.echo("ab" * @random.rand(PAYLOAD_MAX), compress: errand.compresses?)

  def fragments(errand) = errand.echo_in_fragments(Array.new(1 + @random.rand(6)) { "f" * @random.rand(3000) })

  def subscribe(errand) = errand.subscribe(pick(%w[subscribe subscribe block subscribe-in-thread]), pick(CHANNELS))

  def pattern(errand) = errand.subscribe("pattern", pick(PATTERNS))

  def unsubscribe(errand) = errand.unsubscribe(pick(CHANNELS + PATTERNS))

  def publish(errand) = (1 + @random.rand(5)).times { errand.publish(pick(CHANNELS), @sequence += 1) }

  # Who publishes in threads, is another publisher: see Upwell.publish on the order.
  def publish_in_thread(errand)
    channel = pick(CHANNELS)
    @sequence += 1
    errand.do("publish-in-thread", channel, "m #{@mark}t #{@sequence} #{channel} #{"p" * (@sequence % 500)}")
  end

  def command(errand)
    errand.do(*pick([%w[handler], %w[slow], %w[listen], %w[collect], ["timeout", pick(%w[0 0.05 40])]]))
  end

  def later(errand)
    errand.do(pick(%w[write-later write-in-thread]), @mark)
  end

  # Ends

  def close(errand)
    errand.client.send_close(4000)
    end_with(errand, 4000)
  end

  def closed(errand) = end_by(errand, "close 4001", 4001)

  def closed_in_thread(errand) = end_by(errand, "close-in-thread 4002", 4002)

  def raised(errand) = end_by(errand, "raise", 1011)

  def end_by(errand, command, code)
    errand.client.send_text(command)
    end_with(errand, code)
  end

  # What comes before the close is checked, too.
  def end_with(errand, *codes)
    loop { errand.check(errand.receive) }
  rescue CheckingWebSocketClient::Ended
    raise unless codes.include?(errand.code)

    @counts[:closed] += 1
  end

  def reset(errand) = errand.client.instance_variable_get(:@socket).setsockopt(RESET)

  def vanish(errand) = errand.client.send_text("e nobody")

  # Kinds

  # Goes before it is answered, or opened.
  def hurry
    socket = TCPSocket.new("127.0.0.1", @port)
    socket.write(handshake.byteslice(0, pick([20, 1000, 1000])))
    socket.setsockopt(RESET) if @random.rand(2).zero?
    sleep(@random.rand * 0.01)
  ensure
    socket&.close
  end

  # In the midst of a frame, or of a message.
  def cut
    errand do |errand|
      frame = WebSocketFrame.write(:text, "e #{"c" * @random.rand(100_000)}", fin: @random.rand(4).positive?)
      errand.client.write(frame.byteslice(0, @random.rand(frame.bytesize)))
      reset(errand) if @random.rand(2).zero?
    end
  end

  def wrong
    errand do |errand|
      echo(errand) if @random.rand(2).zero?
      pick(WRONG).call(errand.client)
      end_with(errand, 1002, 1007, 1009)
    end
  end

  # What it has said is heard, and some of it answered, before the connection ends: without a close frame nothing more is promised.
  def half_close
    errand do |errand|
      count = @random.rand(30)
      count.times { |number| errand.client.send_text("e #{@mark} #{number}") }
      errand.client.close_write
      begin
        count.times { |number| errand.await("e #{@mark} #{number}") }
      rescue CheckingWebSocketClient::Ended, WebSocketClient::Error, SystemCallError
        @counts[:closed] += 1
      end
    end
  end

  # Reads less than it is sent, for a while; then the rest, or not.
  def slow
    errand do |errand|
      count = 10 + @random.rand(40)
      pattern(errand)
      errand.client.send_text("bulk #{count}")
      sleep(@random.rand * 0.5)
      next if @random.rand(3).zero?

      count.times { errand.await(PIECE) }
      errand.await("done #{@mark} bulk")
    end
  end

  # It is sent away, once it has had what it can.
  def flood
    errand do |errand|
      errand.client.send_text("flood")
      sleep(@random.rand * 0.1)
      next if @random.rand(3).zero?

      count = 0
      begin
        loop { (errand.receive == PIECE) && (count += 1) }
      rescue CheckingWebSocketClient::Ended
        raise unless errand.code == 1008
      end
    end
  end

  def feed
    socket = TCPSocket.new("127.0.0.1", @port)
    socket.write("GET /feed?#{@mark} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
    deadline = now + (@random.rand * 0.7)
    text = +""
    while (left = deadline - now).positive? && (!socket.wait_readable(left) || (text << socket.readpartial(16_384)))
    end
    check_events(text)
    socket.setsockopt(RESET) if @random.rand(2).zero?
  rescue EOFError
    check_events(text)
  ensure
    socket&.close
  end

  def check_events(text)
    last = Hash.new(0)
    text.scan(/^data: (.*?)\n/) do |line,|
      case line
      when "open #{@mark}", "thread #{@mark}", "going #{@mark}", /\Aevent [0-4]\z/ then @counts[:events] += 1
      when CheckingWebSocketClient::PUBLISHED
        _, publisher, number, _, padding = Regexp.last_match.captures
        wrong = number.to_i < last[publisher] || padding.size != number.to_i % 500
        raise CheckingWebSocketClient::Wrong, "#{@mark}: #{line} after #{last[publisher]}" if wrong

        last[publisher] = number.to_i
        @counts[:events] += 1
      else raise CheckingWebSocketClient::Wrong, "#{@mark} got #{line.inspect[0, 200]}"
      end
    end
  end

  def handshake
    "GET /?#{@mark} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
  end

  def pick(list) = list[@random.rand(list.size)]

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
