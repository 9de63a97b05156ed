# frozen_string_literal: true

require_relative "../support/websocket_client"

# A WebSocket client that knows what it is to get: its own marks back, the answers to what it asks for, and of each publisher's messages
# those of its channels, in their order.
class CheckingWebSocketClient
  # It has got what is not its.
  Wrong = Class.new(StandardError)
  # The connection has ended, with the code that the server has said, or nil.
  Ended = Class.new(StandardError)

  # By which way, by whom, its number, the channel, and as many bytes as the number says.
  PUBLISHED = /\A(b )?m (\S+) (\d+) (\S+) (p*)\z/

  attr_reader :client, :counts

  # @param mark [String] no other client's
  # @param counts [Hash{Symbol => Integer}]
  def initialize(port, mark, counts, offer: nil)
    @mark = mark
    @counts = counts
    @last = Hash.new(0)
    @subscribed = []
    @sent_to = [] # of these, those whose messages are sent to it without its handler
    @client = WebSocketClient.new(port, "/?#{mark}", offer: offer)
    await("open #{mark}")
  rescue StandardError
    @client&.close_socket
    raise
  end

  # @return [Integer, nil] the code that the server has closed with
  def code = client.close_code

  def compresses? = !client.extensions.nil?

  def do(command, *arguments)
    client.send_text([command, *arguments].join(" "))
    await("done #{@mark} #{command}")
  end

  def subscribe(way, name)
    @subscribed |= [name]
    self.do(way, name)
    @sent_to |= [name] unless way == "block"
  end

  # It has all that it has said itself before it is told that this is done.
  def publish(channel, number)
    self.do("publish", channel, "m #{@mark} #{number} #{channel} #{"p" * (number % 500)}")
    wanted = @sent_to.any? { |name| File.fnmatch(name, channel) }
    raise Wrong, "#{@mark} lacks #{channel} #{number} of its own, having #{@last}" if wanted && @last[[nil, @mark]] != number
  end

  # What was published before that has been done may still come, and nothing afterwards.
  def unsubscribe(name)
    self.do("unsubscribe", name)
    [@subscribed, @sent_to].each { |names| names.delete(name) }
  end

  def echo(text, compress: false)
    text = "e #{@mark} #{text}" if text.encoding == Encoding::UTF_8
    client.public_send(text.encoding == Encoding::UTF_8 ? :send_text : :send_binary, text, compress: compress)
    await(text)
  end

  # In as many frames as there are pieces, and a ping between them.
  def echo_in_fragments(pieces)
    pieces = ["e #{@mark} ", *pieces]
    pieces.each_with_index do |piece, index|
      client.send_frame(index.zero? ? :text : :continuation, piece, fin: index == pieces.size - 1)
      client.ping("p") if index == 1
    end
    await(pieces.join)
  end

  # Takes what comes until it is `expected`.
  def await(expected)
    loop do
      data = receive
      return count(:answers) if data == expected

      check(data)
    end
  end

  # @return [String] a message; raises Ended when there is none any more
  def receive
    client.receive || raise(Ended, client.close_code.inspect)
  end

  def check(data)
    case data
    when PUBLISHED then published(*Regexp.last_match.captures)
    when "pushed #{@mark}", "going #{@mark}" then count(:pushed)
    else raise Wrong, "#{@mark} got #{data.inspect[0, 200]}"
    end
  end

  private

  def published(way, publisher, number, channel, padding)
    number = number.to_i
    about = "#{@mark}, subscribed to #{@subscribed}, got #{way}#{channel} #{publisher} #{number}"
    raise Wrong, "#{about}: not its own" unless @subscribed.any? { |name| File.fnmatch(name, channel) }
    raise Wrong, "#{about} after #{@last[[way, publisher]]}" if number < @last[[way, publisher]]
    raise Wrong, "#{about}: #{padding.size} bytes" if padding.size != number % 500

    @last[[way, publisher]] = number
    count(:published)
  end

  def count(what)
    counts[what] += 1
  end
end
