# frozen_string_literal: true

require "socket"
require_relative "../support/websocket_client"

module Signals
  # What became of the requests of one client, or of all.
  #
  # A request is lost when its connection was made and the request was sent, and no whole answer came. The one exception is a connection that the
  # server has kept open: it may close it in the very moment in which the next request leaves (RFC 9112, section 9.3.1). The client looks right
  # before it sends: if there is no end yet, and the end comes without a byte of an answer, the request has `raced`. It is told apart, and not
  # forgiven: the server looks once more before it closes.
  Account = Struct.new(:answered, :lost, :raced) do
    def self.empty
      new(0, [], [])
    end

    def add(other)
      self.answered += other.answered
      lost.concat(other.lost)
      raced.concat(other.raced)
    end
  end

  # Asks until nobody listens any more.
  class LoadClient
    BODY = ("b" * 2000).freeze
    TEXTS = {
      "/" => "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "/slow" => "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n",
      "/pieces" => "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n", "/echo" => "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{BODY.size}\r\n\r\n"
    }.freeze
    BODIES = { "/" => "quick", "/slow" => "slow", "/pieces" => (0..4).map { |number| number.to_s * 1000 }.join, "/echo" => BODY }.freeze
    GONE = [Errno::ECONNRESET, Errno::EPIPE, EOFError, IOError].freeze
    WAIT_MAX = 30 # seconds

    # @return [Account]
    attr_reader :account

    # @param connect [#call] a new socket
    # @param random [Random]
    # @param pause [Float] at most, between two requests, in seconds
    # @param kept [Boolean] whether a connection is used again
    def initialize(connect, random, pause:, kept:)
      @connect = connect
      @random = random
      @pause = pause
      @kept = kept
      @account = Account.empty
    end

    # @return [Account]
    def run
      loop { ask_on_a_connection(@connect.call) }
    rescue Errno::ECONNREFUSED, Errno::ENOENT
      account
    end

    private

    def ask_on_a_connection(socket)
      used = 0
      loop do
        break if used.positive? && ended?(socket)

        go_on = ask(socket, TEXTS.keys.sample(random: @random), used.positive?)
        used += 1
        break unless go_on && @kept

        sleep(@random.rand * @pause)
      end
    ensure
      socket.close
    end

    def ended?(socket)
      socket.wait_readable(0) && socket.eof?
    rescue Errno::ECONNRESET
      true
    end

    # @return [Boolean] whether the connection goes on
    def ask(socket, path, used)
      send_request(socket, path)
      head = read_head(socket)
      body = read_body(socket, head)
      raise "#{head.lines.first.inspect}, #{body.bytesize} bytes" unless head.start_with?("HTTP/1.1 200") && body == BODIES.fetch(path)

      account.answered += 1
      !head.match?(/^connection: close/i)
    rescue *GONE, RuntimeError => e
      note(e, path, used && head.to_s.empty?)
      false
    end

    def send_request(socket, path)
      socket.write(TEXTS.fetch(path))
      return unless path == "/echo"

      sleep(@random.rand * 0.01)
      socket.write(BODY)
    end

    # @return [String] what has come, when it ends early
    def read_head(socket)
      head = +""
      until head.end_with?("\r\n\r\n")
        socket.wait_readable(WAIT_MAX) or raise "no answer in #{WAIT_MAX} s"
        line = socket.gets("\r\n") or raise EOFError, "the connection ended"
        head << line
      end
      head
    end

    def read_body(socket, head)
      length = head[/^content-length: (\d+)/i, 1]
      return socket.read(length.to_i).to_s if length

      body = +""
      while (size = socket.readline("\r\n").to_i(16)).positive?
        body << socket.read(size)
        socket.readline("\r\n")
      end
      socket.readline("\r\n")
      body
    end

    def note(error, path, raced)
      (raced ? account.raced : account.lost) << "#{path}: #{error.class} #{error.message}"
    end
  end

  # Sends messages, and expects each back, until the server says that it goes away.
  class Talker
    GOING_AWAY = 1001

    # @return [Account]
    attr_reader :account

    def initialize(port, random, pause:)
      @port = port
      @random = random
      @pause = pause
      @account = Account.empty
    end

    # A worker that is replaced tells its clients so: they come again.
    #
    # @return [Account]
    def run
      loop { talk }
    rescue Errno::ECONNREFUSED
      account
    rescue StandardError => e
      account.lost << "WebSocket: #{e.class} #{e.message}"
      account
    end

    private

    def talk
      client = WebSocketClient.new(@port)
      loop do
        client.send_text("hello")
        break unless client.receive == "hello"

        account.answered += 1
        sleep(@random.rand * @pause)
      end
      account.lost << "WebSocket: closed with #{client.close_code.inspect}" unless client.close_code == GOING_AWAY
    ensure
      client&.close_socket
    end
  end
end
