# frozen_string_literal: true

require "digest/sha2"
require_relative "concurrent_clients"
require_relative "nginx_proxy"

# What every application of this folder answers, whoever asks at the same time. Each `check_` takes a server that is up.
class ServerChecks
  SECONDS = Float(ENV.fetch("APPS_SECONDS", "1")) # of load for each of them
  HELD = 4 # requests that are under way when the server is stopped; one of five threads is left to tell how many they are
  LOG_LINES = 40 # shown of a server's log after a failure
  LINES = 5 # of a response that streams

  # @param test [Minitest::Test]
  # @param app [Application]
  # @param server [AppProcess]
  # @param mode [String]
  def initialize(test, app, server, mode)
    @test = test
    @app = app
    @server = server
    @mode = mode
  end

  attr_reader :test, :app, :server, :mode

  # All of them, and the stop at the end.
  def run
    public_methods.grep(/\Acheck_/).sort.each { |name| send(name) }
    stop
  rescue StandardError, Minitest::Assertion
    warn server.lines.last(LOG_LINES)
    raise
  end

  # Each client's own marker comes back to it.
  def check_markers(port = server.port)
    crowd(port) { |client, marker| test.assert_equal marker, client.get("/marker?m=#{marker}") }
  end

  def check_markers_behind_nginx
    NginxProxy.open(server.port) { |port| check_markers(port) }
  end

  def check_uploads
    content = Random.new(1).bytes(200_000)
    crowd do |client, marker|
      own = marker + content
      response = client.checked(client.post("/upload?m=#{marker}", "file" => ["#{marker}.bin", own]))
      test.assert_equal "#{marker} #{marker}.bin #{Digest::SHA256.hexdigest(own)}", response
    end
  end

  def check_streams
    crowd { |client, marker| test.assert_equal Array.new(LINES) { |i| "#{marker} #{i}\n" }.join, client.get("/stream?m=#{marker}") }
  end

  private

  def crowd(port = server.port, clients: ConcurrentClients::CLIENTS, &block)
    test.assert_operator ConcurrentClients.run(port, SECONDS, clients: clients, &block), :>=, clients
  end

  # Whoever is being served is served to the end.
  def stop
    holders = mode == "inline" ? [] : hold
    test.assert_predicate server.stop, :success?, server.lines.join
    holders.each_with_index { |holder, i| test.assert_equal "h#{i}", holder.value }
    test.assert_empty(log.grep(/error|exception/i))
  end

  # What must not tell of failures.
  def log
    server.lines
  end

  def hold
    before = held
    holders = Array.new(HELD) { |i| Thread.new { ConcurrentClients::Client.open(server.port) { |client| client.get("/hold?m=h#{i}") } } }
    Timeout.timeout(ConcurrentClients::READ_MAX) { nil until held == before + HELD }
    holders
  end

  def held
    ConcurrentClients::Client.open(server.port) { |client| client.get("/held").to_i }
  end
end
