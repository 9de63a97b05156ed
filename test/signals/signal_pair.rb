# frozen_string_literal: true

require_relative "../support/server_process"
require_relative "load_client"

module Signals
  # A server under load gets two signals, and then SIGTERM if none of them has ended it.
  class SignalPair
    APP = File.expand_path("app.ru", __dir__)
    STOPS = %w[INT TERM].freeze
    # HUP and USR1 do not end a server.
    NAMES = %w[INT TERM HUP USR1].freeze
    PAUSES = [0, 0.005, 0.05, 0.5].freeze # seconds between the two
    TARGETS = %i[process group].freeze
    BEFORE = 3 # answers a client, on average, before the first signal
    AFTER = 0.3 # seconds before SIGTERM, where neither of the signals was a stop
    LATER = 1.1 # and after a stop nothing is sent for so long: it would force
    START_MAX = 60
    # How many of each kind there are in a hundred clients.
    KINDS = { new: 25, kept: 35, idle: 20, talkers: 20 }.freeze

    # @return [Account]
    attr_reader :account
    # @return [String] what was done
    attr_reader :name

    # @param pair [Array<String>]
    # @param clients [Integer]
    # @param arguments [Array<String>] of the server
    def initialize(pair, pause, targets, clients:, arguments:, seed:)
      @pair = pair
      @pause = pause
      @targets = targets
      @clients = clients
      @arguments = arguments
      @random = Random.new(seed)
      @account = Account.empty
      sent = pair.zip(targets).map { |signal, whom| "#{signal} to the #{whom}" }
      @name = "#{sent.join(", #{(pause * 1000).round} ms, ")} #{arguments.join(" ")}"
    end

    # @return [self]
    def run
      ServerProcess.open(*@arguments, app: APP) do |server|
        server.read_on
        begin_load(server.port)
        strike(server)
        @threads.each { |thread| @account.add(thread.value) }
        check_end(server)
      end
      self
    end

    # @return [Array<String>] what went wrong
    def failures
      [*@account.lost.map { |what| "lost: #{what}" }, *@account.raced.map { |what| "raced: #{what}" }, *@wrong]
    end

    private

    def begin_load(port)
      parties = KINDS.flat_map { |kind, percent| Array.new([percent * @clients / 100, 1].max) { party(kind, port) } }
      @threads = parties.map { |client| Thread.new { client.run }.tap { |thread| thread.report_on_exception = false } }
      Timeout.timeout(START_MAX) { sleep 0.01 until parties.sum { |client| client.account.answered } > BEFORE * parties.size }
    end

    def party(kind, port)
      random = Random.new(@random.rand(1 << 30))
      return Talker.new(port, random, pause: 0.2) if kind == :talkers

      LoadClient.new(-> { TCPSocket.new("127.0.0.1", port) }, random, pause: kind == :idle ? 1 : 0.02, kept: kind != :new)
    end

    def strike(server)
      send_signal(server, @pair.first, @targets.first)
      sleep @pause
      send_signal(server, @pair.last, @targets.last)
      return if @pair.any? { |name| STOPS.include?(name) }

      sleep AFTER
      server.signal("TERM")
    end

    def send_signal(server, name, whom)
      Process.kill(name, whom == :group ? -server.pid : server.pid)
    rescue Errno::ESRCH
      nil # it has ended in the meantime
    end

    def check_end(server)
      status = server.await_end
      @wrong = status.success? ? [] : ["the server ended with #{status}: #{server.lines.last(5).join}"]
    end
  end
end
