# frozen_string_literal: true

require_relative "cable_client"

# What a client and Action Cable say to each other, each on connections of its own: what the client has got, all of it.
module CableClientExchanges
  ANSWER = { channel: "AnswerChannel" }.freeze
  ROOM = { channel: "RoomChannel", room: 1 }.freeze
  NEWS = { channel: "NewsChannel", of: "harbor" }.freeze
  NASTY = { "html" => "<b>&amp;</b>", "text" => "Grüße \u2028 🐙 \"\\\n", "numbers" => [1, -2.5, 1e20, 1e-7, 12_345_678_901_234_567_890],
            "none" => nil, "deep" => { "a" => [{ "b" => [] }, true, false] } }.freeze

  ALL = {
    "a welcome" => ->(client) {},
    "an answer" => ->(client) { client.join(ANSWER) },
    "a broadcast" => lambda do |client|
      client.join(NEWS)
      client.perform(NEWS, "tell", news: { "headline" => "A ship has come in" })
      client.message
    end,
    "all that JSON has" => lambda do |client|
      client.join(NEWS)
      client.perform(NEWS, "tell", news: NASTY)
      client.message
    end,
    "news that is no object" => lambda do |client|
      client.join(NEWS)
      [42, "text", nil, [1, "two"], false].each do |news|
        client.perform(NEWS, "tell", news: news)
        client.message
      end
    end,
    "a long message" => lambda do |client|
      client.join(NEWS)
      client.perform(NEWS, "tell", news: "x" * 30_000)
      client.message
    end,
    "a broadcasting of a long name" => lambda do |client|
      news = NEWS.merge(of: "harbor" * 200)
      client.join(news)
      client.perform(news, "tell", news: "Long live the name")
      client.message
    end,
    "a channel that transmits in its own way" => lambda do |client|
      client.join(ROOM.merge(loud: true))
      client.perform(ROOM.merge(loud: true), "say", text: "hello")
      client.message
    end,
    "a stream with a callback" => lambda do |client|
      count = { channel: "CountChannel", of: "sheep" }
      client.join(count)
      client.perform(count, "count", count: 41)
      client.message
    end,
    "a subscription asked for twice" => lambda do |client|
      client.join(NEWS)
      client.subscribe(NEWS)
    end,
    "the end of a stream" => lambda do |client|
      client.join(ROOM)
      client.perform(ROOM, "leave")
      client.message
      client.perform(ROOM, "say", text: "unheard")
    end,
    "the end of a subscription" => lambda do |client|
      client.join(NEWS)
      client.command(command: "unsubscribe", identifier: JSON.generate(NEWS))
      client.perform(NEWS, "tell", news: "unheard")
    end,
    "a rejection" => lambda do |client|
      client.subscribe(ROOM.merge(room: "closed"))
      client.message
    end,
    "an exception that is rescued" => lambda do |client|
      client.join(ANSWER)
      client.perform(ANSWER, "fail", text: "on purpose")
      client.message
    end,
    "an unknown channel, command and action" => lambda do |client|
      client.subscribe(channel: "Kernel")
      client.subscribe(channel: "NoSuchChannel")
      client.command(command: "dance")
      client.join(ANSWER)
      client.perform(ANSWER, "dance")
    end,
    "what is no JSON" => ->(client) { client.send_text("{") },
    "bytes" => ->(client) { client.send_binary("\xff\0") }
  }.freeze

  # Those that do not end with a last question: query, header fields and what the client does. All of them end with the connection.
  ENDS = {
    "nobody's name" => ["", {}, ->(client) {}],
    "a restart" => ["name=somebody", {}, lambda do |client|
      client.join(ANSWER)
      client.perform(ANSWER, "restart")
    end],
    "connect that fails" => ["fails=1", {}, lambda do |client|
      client.subscribe(NEWS)
      client.send_close
    end],
    "an allowed origin" => ["", { "Origin" => "http://here.test" }, ->(client) {}],
    "another origin" => ["name=somebody", { "Origin" => "http://elsewhere.test" }, ->(client) {}],
    "no origin" => ["name=somebody", { "Origin" => nil }, ->(client) {}],
    "no subprotocol" => ["", { "Sec-WebSocket-Protocol" => nil }, ->(client) {}],
    "another subprotocol" => ["", { "Sec-WebSocket-Protocol" => "soap,actioncable-unsupported" }, ->(client) {}],
    "no upgrade" => ["name=somebody", { "Upgrade" => nil, "Connection" => "close" }, ->(client) {}]
  }.freeze

  # @param port [Integer]
  # @param exchange [Proc]
  # @return [Array] the subprotocol and all that has come, to the answer to a last question and the close of the connection
  def self.run(port, exchange)
    run_to_end(port, "name=somebody", {}, lambda do |client|
      exchange.call(client)
      client.join(ANSWER.merge(last: true))
      client.perform(ANSWER.merge(last: true), "echo", text: "last")
      client.await_message { |message| message.dig("message", "echo") == "last" }
      client.send_close
    end)
  end

  # @return [Array] likewise, of one of ENDS; or the status of an answer that is no upgrade
  def self.run_to_end(port, query, headers, exchange)
    CableClient.open(port, query, headers) do |client|
      seen = record(client)
      exchange.call(client)
      nil while client.receive
      seen
    end
  rescue WebSocketClient::Refused => e
    [e.response.status, e.response.headers["content-type"]]
  end

  # @return [Array] to which each event is added
  def self.record(client)
    seen = [client.protocol]
    client.define_singleton_method(:event) { super().tap { |event| seen << event.to_a } }
    seen
  end
  private_class_method :record
end
