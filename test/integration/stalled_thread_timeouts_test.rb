# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"

# While its thread is away a server cannot see what its clients have sent in time: it looks before it gives them up.
class StalledThreadTimeoutsTest < Minitest::Test
  ALLOWED = 1.5 # seconds
  CLIENTS = 300 # more than a backend tells at once

  def setup
    @dir = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  def each_server(modes)
    each_backend_and_mode(modes) do |backend, mode|
      arguments = ["--head-timeout", ALLOWED.to_s, "--keep-alive-timeout", ALLOWED.to_s]
      ServerProcess.open("--backend", backend, "--mode", mode, *arguments, app: "stalled_thread_timeouts.ru") { |server| yield server }
    end
  end

  def await
    Timeout.timeout(60) { sleep 0.005 until yield }
  end

  # @return [Array<RawClient>] that the server has accepted, for one who came after them has been answered
  def connect(server)
    Array.new(CLIENTS) { RawClient.new(server.port) }.tap { RawClient.get(server.port, "/") }
  end

  def ask(client, query = "")
    client.write("GET /?#{query} HTTP/1.1\r\nHost: a\r\n\r\n")
  end

  # Half of them for the first time, and the others on a connection that is kept. The block has the server go away, and
  # gives what has it come back.
  def assert_all_answered(server, &away)
    clients, come_back = clients_before(server, &away) until come_back
    clients.each { |client| ask(client) }
    sleep ALLOWED * 1.2
    come_back.call
    assert_equal({ 200 => CLIENTS }, clients.map { |client| client.response.status }.tally)
  end

  # @return [Array, nil] the clients, and what has the server come back; nil when it may have given one up before it went away
  def clients_before(server)
    begun = now
    clients = connect(server)
    clients.first(CLIENTS / 2).each { |client| ask(client) }.each(&:response)
    come_back = yield
    return clients, come_back if now - begun < ALLOWED

    come_back.call
    clients.each(&:close)
    nil
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def test_requests_that_came_while_the_application_kept_the_thread
    each_server(%w[fibers inline]) do |server|
      assert_all_answered(server) do
        pipe = Dir::Tmpname.create("pipe", @dir) { |path| File.mkfifo(path) }
        ask(RawClient.new(server.port), pipe)
        await { File.exist?("#{pipe}.begun") }
        -> { File.write(pipe, "") }
      end
    end
  end

  def test_requests_that_came_while_the_process_was_stopped
    each_server(MODES) do |server|
      assert_all_answered(server) do
        server.signal("STOP")
        await { state(server) == "T" }
        -> { server.signal("CONT") }
      end
    end
  end

  def state(server)
    File.read("/proc/#{server.pid}/stat")[/\) (\w)/, 1]
  end
end
