# frozen_string_literal: true

require "socket"

# What says that it is a Redis, and does with each connection's commands as a test says.
class FakeRedis
  HELLO = "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n"

  # @param hello [String] its answer to that
  # @yieldparam redis [FakeRedis]
  def self.open(hello = HELLO, &serve)
    redis = new(hello)
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
      size = (@socket.gets || raise(EOFError)).delete_prefix("*").to_i
      Array.new(size) do
        length = @socket.gets.delete_prefix("$").to_i
        @socket.read(length + 2).chomp
      end
    end

    # Answers what engines tell each other.
    #
    # @return [Array<String>] the next command that is the application's
    def own_command
      loop do
        command = self.command
        return command unless command[1] == "upwell:engines"

        answer(":1\r\n") if command.first == "PUBLISH"
      end
    end

    def answer(text)
      @socket.write(text)
    end

    def close
      @socket.close
    end
  end

  def initialize(hello)
    @hello = hello
    @server = TCPServer.new("127.0.0.1", 0)
    @threads = []
  end

  # @param handler [#call] given each client, once that has said hello
  def serve(handler)
    @threads << start do
      loop do
        client = Client.new(@server.accept)
        @threads << start { greet(client, handler) }
      end
    end
  end

  def url
    "redis://127.0.0.1:#{@server.addr[1]}"
  end

  def close
    @threads.each(&:kill).each(&:join)
    @server.close
  end

  private

  def start(&work)
    Thread.new(&work).tap { |thread| thread.report_on_exception = false }
  end

  def greet(client, handler)
    client.command
    client.answer(@hello)
    client.command # PING
    client.answer("+PONG\r\n")
    handler.call(client)
  rescue EOFError, SystemCallError
    nil # it has left
  ensure
    client.close
  end
end
