# frozen_string_literal: true

require "socket"

# What says that it is a Redis, and does with each connection's commands as a test says.
class ToldRedis
  HELLO = "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n"

  # @yieldparam redis [ToldRedis]
  def self.open(&serve)
    redis = new
    redis.serve(serve) # nothing comes before
    redis
  end

  # One connection of a client.
  class Client
    def initialize(socket)
      @socket = socket
    end

    # @return [Array<String>] the next command
    def command
      size = @socket.gets.delete_prefix("*").to_i
      Array.new(size) do
        length = @socket.gets.delete_prefix("$").to_i
        @socket.read(length + 2).chomp
      end
    end

    def answer(text)
      @socket.write(text)
    end

    def close
      @socket.close
    end
  end

  def initialize
    @server = TCPServer.new("127.0.0.1", 0)
  end

  # @param handler [#call] given each client, one after another, once that has said hello
  def serve(handler)
    @thread = Thread.new do
      loop do
        client = Client.new(@server.accept)
        client.command
        client.answer(HELLO)
        handler.call(client)
        client.close
      end
    end
    @thread.report_on_exception = false
  end

  def url
    "redis://127.0.0.1:#{@server.addr[1]}"
  end

  def close
    @thread.kill.join
    @server.close
  end
end
