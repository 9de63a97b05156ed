# frozen_string_literal: true

require_relative "../test_helper"
require "upwell/clock"
require_relative "../health/endpoint_removal"
require_relative "../support/static_files_fixture"
require_relative "../support/websocket_client"
require_relative "../support/with_interpreter_lock_held"

# Health checks before the application, and the delay before draining.
class HealthTest < Minitest::Test
  include WithInterpreterLockHeld

  PATHS = %w[--health-path /up --ready-path /ready].freeze
  WORKERS = %w[0 2].freeze
  PATIENCE = 60 # seconds
  DELAY = 1.5 # seconds, for tests that wait for its end
  LONG_DELAY = 100 # seconds, for tests that do not
  FIELDS = { "content-type" => ["text/plain"], "cache-control" => ["no-store"] }.freeze
  REQUESTS = 300 # before SIGTERM

  attr_reader :folder, :server

  def serve(*arguments, app: "health.ru")
    @folder = StaticFilesFixture.new
    ServerProcess.open(*PATHS, *arguments, app: app, environment: { "FOLDER" => folder.path, "LOCK" => folder.lock }) do |server|
      yield @server = server
    end
  ensure
    folder&.remove
  end

  def each_server(*arguments, modes: MODES, workers: WORKERS)
    each_backend_and_mode(modes) do |backend, mode|
      workers.each { |count| serve("--backend", backend, "--mode", mode, "-w", count, *arguments) { yield } }
    end
  end

  def get(path)
    RawClient.get(server.port, path)
  end

  def request(line)
    RawClient.open(server.port) do |client|
      client.write("#{line} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
      client.response(head: line.start_with?("HEAD"))
    end
  end

  # Each worker answers for itself.
  def await_unready
    Timeout.timeout(PATIENCE) { sleep 0.01 until Array.new(20) { get("/ready").status }.uniq == [503] }
  end

  # @return [RawClient] whose request the application has begun
  def hold(number)
    client = RawClient.new(server.port)
    client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
    Timeout.timeout(PATIENCE) { sleep 0.01 until File.exist?(File.join(folder.path, "begun-#{number}")) }
    client
  end

  def release
    File.write(File.join(folder.path, "go"), "")
  end

  def assert_answer(status, text, response)
    assert_equal [status, text], [response.status, response.body]
    assert_equal FIELDS, response.headers.slice(*FIELDS.keys)
  end

  def test_the_paths_are_answered_without_the_application
    each_server do
      %w[/up /up?a=b http://a/up /ready].each { |target| assert_answer(200, "ok\n", request("GET #{target}")) }
      head = request("HEAD /up")
      assert_answer(200, "", head)
      assert_equal ["3"], head.headers["content-length"]
      assert_equal "application POST /up", request("POST /up").body
      %w[/up/ /upper /u //up /%75p].each { |path| assert_match(/application GET/, get(path).body) }
    end
  end

  def test_a_check_keeps_its_connection
    serve do
      RawClient.open(server.port) do |client|
        client.write("GET /up HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        assert_equal([[200, nil]] * 3, Array.new(3) { client.response.then { |response| [response.status, response.headers["connection"]] } })
      end
    end
  end

  def test_without_a_path_the_application_answers
    ServerProcess.open("--health-path", "/up", app: "health.ru") do |server|
      assert_equal "application GET /ready", RawClient.get(server.port, "/ready").body
    end
  end

  def test_public_files_are_served_beside_the_checks
    Dir.mktmpdir do |public|
      %w[up file].each { |name| File.write(File.join(public, name), "content") }
      serve("--mode", "inline", "--public", public) do
        assert_answer(200, "ok\n", get("/up"))
        assert_equal "content", get("/file").body
        assert_match(/application/, get("/other").body)
      end
    end
  end

  def test_requests_that_wait_do_not_delay_a_check
    each_server(modes: %w[threads:2 fibers], workers: %w[0]) do
      held = Array.new(2) { |number| hold(number + 1) }
      %w[/up /ready].each { |path| assert_answer(200, "ok\n", get(path)) }
      release
      held.each { |client| assert_equal 200, client.response.status }
    end
  end

  def test_a_check_needs_no_lock_of_the_interpreter
    serve("--mode", "threads:2", "--stuck-timeout", "60") do
      while_locked { %w[/up /ready].each { |path| assert_answer(200, "ok\n", get(path)) } }
    end
  end

  def test_clients_are_served_during_the_delay
    each_server("--drain-delay", LONG_DELAY.to_s, modes: %w[threads:2 fibers]) do
      kept = RawClient.new(server.port)
      held = hold(1)
      server.signal("TERM")
      await_unready
      check_delay(kept)
      release
      assert_equal [200, ["close"]], held.response.then { |response| [response.status, response.headers["connection"]] }
      server.force
      assert_equal 1, server.await_end.exitstatus
    end
  end

  def check_delay(kept)
    assert_answer(503, "draining\n", get("/ready"))
    assert_answer(200, "ok\n", get("/up"))
    kept.write("GET /kept HTTP/1.1\r\nHost: a\r\n\r\n")
    [get("/new"), kept.response].each { |response| assert_equal [200, ["close"]], [response.status, response.headers["connection"]] }
    assert_predicate kept, :closed?
    WebSocketClient.open(server.port) do |client|
      client.send_text("hello")
      assert_equal "hello", client.receive
    end
  end

  def test_the_drain_begins_after_the_delay
    each_server("--drain-delay", DELAY.to_s) do
      client = WebSocketClient.new(server.port)
      server.signal("TERM")
      begun = Upwell::Clock.now
      assert_nil client.receive
      assert_equal 1001, client.close_code
      assert_operator Upwell::Clock.now - begun, :>=, DELAY
      client.close_socket
      assert_equal 0, server.await_end.exitstatus
      assert_match(/SIGTERM: draining begins in 1.5 s; until then new clients are served, and \/ready answers 503; a second signal after 1 s /,
                   server.lines.join)
    end
  end

  def test_the_drain_time_counts_from_the_end_of_the_delay
    WORKERS.each do |count|
      serve("-w", count, "--mode", "threads:2", "--drain-delay", DELAY.to_s, "--drain-timeout", "1") do
        held = hold(1)
        begun = Upwell::Clock.now
        server.signal("INT")
        assert_equal 1, server.await_end.exitstatus
        assert_operator Upwell::Clock.now - begun, :>=, DELAY + 1
        assert_match(/after 1 s of --drain-timeout: GET \/held .*; left: 1 request, 0 WebSockets and event streams/, server.lines.join)
        held.close
      end
    end
  end

  def test_a_signal_to_the_group_is_the_same_stop
    serve("-w", "2", "--drain-delay", DELAY.to_s) do
      workers = server.workers
      Process.kill("TERM", -server.pid)
      await_unready
      assert_equal workers, server.workers
      assert_equal 0, server.await_end.exitstatus
      refute_match(/starting another|was replaced/, server.lines.join)
    end
  end

  # As systemd sends the signal to each process of the unit. The supervisor must hear of the workers' stop first.
  def test_a_signal_that_reaches_the_workers_first_is_the_same_stop
    serve("-w", "2", "--drain-delay", LONG_DELAY.to_s) do
      workers = server.workers
      Process.kill("TERM", *workers)
      sleep 0.1
      server.signal("TERM")
      await_unready
      assert_equal workers, server.workers
      assert_equal 200, get("/new").status
      server.force
      assert_equal 1, server.await_end.exitstatus
      refute_match(/starting another|was replaced/, server.lines.join)
    end
  end

  def test_a_restart_and_a_replacement_do_not_wait
    serve("-w", "1", "--drain-delay", LONG_DELAY.to_s) do
      statuses = collect_ready_statuses do
        server.signal("USR1")
        server.await(/worker 0 was replaced/)
        Process.kill("TERM", server.workers.first)
        server.await(/received a stop signal; starting another/)
      end
      assert_equal [200], statuses
    end
  end

  # The successor of a worker that drains serves from the same sockets.
  def collect_ready_statuses
    statuses = Queue.new
    prober = Thread.new { loop { statuses << get("/ready").status } }
    yield
    statuses << get("/ready").status
    prober.kill.join
    Array.new(statuses.size) { statuses.pop }.uniq
  end

  def test_a_worker_that_replaces_another_during_the_delay_is_not_ready
    serve("-w", "1", "--drain-delay", LONG_DELAY.to_s) do
      server.signal("TERM")
      await_unready
      Process.kill("KILL", server.workers.first)
      server.await(/worker 0 .* died/)
      assert_answer(503, "draining\n", get("/ready"))
      assert_equal 200, get("/new").status
    end
  end

  def test_a_file_server
    Dir.mktmpdir do |public|
      File.write(File.join(public, "a"), "file")
      WORKERS.each { |count| check_file_server(public, "-w", count) }
    end
  end

  def check_file_server(public, *arguments)
    ServerProcess.open(*PATHS, "--drain-delay", LONG_DELAY.to_s, *arguments, command: ["static"], app: public) do |server|
      @server = server
      assert_answer(200, "ok\n", get("/up"))
      assert_equal "file", get("/a").body
      server.signal("TERM")
      await_unready
      assert_equal ["file", ["close"]], get("/a").then { |response| [response.body, response.headers["connection"]] }
    end
  end

  # rake test:health in short.
  def test_no_request_fails_while_an_endpoint_is_removed
    WORKERS.zip(%w[threads:3 fibers]) do |count, mode|
      removal = Health::EndpointRemoval.new(clients: 8, requests: REQUESTS, arguments: ["-w", count, "--mode", mode], seed: Minitest.seed).run
      assert_empty removal.failures.tally
    end
  end
end
