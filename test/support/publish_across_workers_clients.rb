# frozen_string_literal: true

require_relative "server_process"
require_relative "websocket_client"

# Clients of publish_across_workers.ru.
module PublishAcrossWorkersClients
  # A WebSocket client that knows whose it is.
  class Client < WebSocketClient
    # @return [Integer] the process that serves it
    attr_reader :worker

    # @param query [String] what it hears
    def initialize(server, query = "news")
      super(server.port, "/?#{query}")
      @worker = receive.delete_prefix("open ").to_i
      @heard = []
    end

    # @param way [String] a command of publish_across_workers.ru
    def publish(way, text)
      send_text("#{way} news #{text}")
      while (message = receive) != "done"
        @heard << message
      end
    end

    # @return [Array<String>] so many messages that have come, besides answers
    def hear(count)
      @heard << receive until @heard.size >= count
      @heard.shift(count)
    end
  end

  # The same by server-sent events.
  class EventStream
    # Connects until it is served by that process.
    def initialize(server, worker)
      loop do
        @client = RawClient.new(server.port)
        @client.write("GET /?news HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\r\n")
        break if hear(1) == ["open #{worker}"]

        @client.close
      end
    end

    def hear(count)
      Timeout.timeout(RawClient::READ_MAX) { Array.new(count) { next_data } }
    end

    def close_socket
      @client.close
    end

    private

    def next_data
      nil until (data = (@client.socket.gets || raise("the stream has ended"))[/\Adata: (.*)\n/, 1])
      data
    end
  end

  # Yields clients, one of each of two workers.
  def with_each_worker(server)
    one = Client.new(server)
    other = hear(server, ->(pid) { pid != one.worker })
    yield one, other
  ensure
    [one, other].each { |client| client&.close_socket }
  end

  # Yields a client of such a worker.
  def with_client(server, worker = ->(_pid) { true })
    yield client = hear(server, worker)
  ensure
    client&.close_socket
  end

  # @param worker [#===] whose it is to be
  # @return [Client]
  def hear(server, worker, query = "news")
    loop do
      client = Client.new(server, query)
      return client if worker === client.worker # rubocop:disable Style/CaseEquality

      client.close_socket
    rescue Errno::ECONNREFUSED, Errno::ECONNRESET, WebSocketClient::Error
      retry # of a worker that was killed just now
    end
  end

  # @param client [Client] is told that the server ends
  def assert_gone(client)
    assert_equal [["shutdown"], nil, 1001], [client.hear(1), client.receive, client.close_code]
  end
end
