# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"

# Clients that take their responses slowly, or not, or send slowly, on each JavaScript runtime.
class OpalSlowClientsTest < Minitest::Test
  include OpalRuntimes

  APP = File.expand_path("support/app.ru", __dir__)
  MUCH = 20_000_000 # the application's
  AHEAD = 65_536 # what a client takes that does not read
  PATIENCE = 60 # uWebSockets.js has a limit of its own, of some 10 seconds
  PAUSE = 1 # in which a client does not read: longer than servers wait for what is on its way as they end
  ALL = %w[/much /flushes-much /streams-much].freeze
  IN_TURN = [%w[/flushes-much], %w[/streams-much], %w[/ /flushes-much], %w[/ /streams-much], %w[/ /much], %w[/events]].freeze
  HEAP_MB = 80
  CHUNKS = 1_000_000 # of a byte
  PIECES = 300_000 # as well
  DESCRIPTORS_MAX = 64
  CONNECTIONS = 100

  # Each test for each runtime.
  def self.on_each_runtime(name, *arguments, runtimes: OpalProcess::RUNTIMES.keys, **options, &block)
    runtimes.each do |command|
      define_method(:"test_#{name}_on_#{command}") do
        need(command)
        OpalProcess.open(command, *arguments, app: APP, **options) { |server| instance_exec(server, &block) }
      end
    end
  end

  on_each_runtime "a_server_that_ends_sends_what_is_taken_slowly" do |server|
    clients = ALL.map { |path| ask(server, path) }
    server.signal("TERM")
    sleep PAUSE
    assert_equal [MUCH] * ALL.size, clients.map { |client| client.response.body.bytesize }
    assert_predicate server.await_end, :success?, server.lines.join
  ensure
    clients&.each(&:close)
  end

  on_each_runtime "who_does_not_read_what_has_ended_is_let_go", "--write-timeout", "1", "--keep-alive-timeout", "1" do |server|
    before = server.descriptors
    clients = IN_TURN.map { |paths| ask(server, *paths) }
    assert_operator server.descriptors, :>, before
    Timeout.timeout(PATIENCE, nil, server.open_files.inspect) { sleep 0.02 until server.descriptors <= before }
    assert_predicate server.stop, :success?, server.lines.join
  ensure
    clients&.each(&:close)
  end

  on_each_runtime "who_resets_the_connection_is_not_waited_for" do |server|
    ALL.each do |path|
      client = ask(server, path)
      client.socket.readpartial(10)
      client.socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      client.close
    end
    assert_equal "Hello", RawClient.get(server.port, "/").body
    assert_predicate server.stop, :success?, server.lines.join
  end

  # Bun's memory cannot be bounded.
  on_each_runtime "content_in_chunks_of_a_byte_takes_little_room",
                  runtimes: %w[up up_node], environment: { "NODE_OPTIONS" => "--max-old-space-size=#{HEAP_MB}" } do |server|
    RawClient.open(server.port) do |client|
      client.write("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.write("1\r\nx\r\n" * CHUNKS)
      client.write("0\r\n\r\n")
      assert_equal CHUNKS, client.response.body.count("x")
    end
  end

  on_each_runtime "pieces_of_a_byte_take_little_room",
                  runtimes: %w[up up_node], environment: { "NODE_OPTIONS" => "--max-old-space-size=#{HEAP_MB}" } do |server|
    client = ask(server, "/flushes-small-pieces?#{PIECES}")
    assert_equal PIECES, client.response.body.bytesize
  ensure
    client&.close
  end

  on_each_runtime "a_server_without_descriptors_goes_on_once_it_has_some", spawn: { rlimit_nofile: DESCRIPTORS_MAX } do |server|
    kept = ask(server, "/")
    kept.response
    clients = Array.new(CONNECTIONS) { RawClient.new(server.port) }
    clients.each { |client| client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
    clients.first.socket.wait_readable(PATIENCE)
    assert_includes 1...CONNECTIONS, clients.count { |client| answered?(client) }
    kept.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert_equal "Hello", kept.response.body
    clients.each(&:close)
    Timeout.timeout(PATIENCE) { sleep 0.02 until serves?(server) }
    assert_predicate server.stop, :success?, server.lines.join
  ensure
    kept&.close
  end

  private

  # @return [RawClient] whose first response has begun, and which takes little of it
  def ask(server, *paths)
    RawClient.new(server.port, ahead: AHEAD).tap do |client|
      client.write(paths.map { |path| "GET #{path} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n" }.join)
      client.socket.wait_readable(PATIENCE)
    end
  end

  def serves?(server)
    RawClient.get(server.port, "/").body == "Hello"
  rescue Errno::ECONNRESET, EOFError, NoMethodError
    false
  end

  # @return [Boolean] whether there was one: without descriptors Node closes what it has accepted
  def answered?(client)
    client.socket.wait_readable(0.01) && client.response
  rescue Errno::ECONNRESET
    false
  end
end
