# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../signals/signal_pair"
require_relative "../support/websocket_client"

# How a server ends by signals: a repeated one, the deadline, and clients that stay.
class StopSignalsTest < Minitest::Test
  PATIENCE = 60 # seconds
  WORKERS = [[], %w[-w 2]].freeze
  # To the process, or to its group, as terminals and process managers send them.
  REPEATED = [[%w[INT group], %w[TERM process]], [%w[TERM process], %w[TERM group]], [%w[INT group], %w[INT group]]].freeze
  DEADLINE = %w[--drain-timeout 1].freeze
  ENDED_WITHIN = 10 # seconds, of which most are for a busy machine
  CROWD = 101 # clients: one more than leave at once

  # @yield [ServerProcess, String] each in a thread of its own, as they wait for most of the time
  def each_server(cases)
    threads = cases.map do |arguments, rest|
      Thread.new do
        Dir.mktmpdir do |folder|
          ServerProcess.open(*arguments, environment: { "FOLDER" => folder, **rest.fetch(:environment, {}) }, app: rest.fetch(:app)) do |server|
            yield server, rest, folder
          end
        end
      end
    end
    threads.each { |thread| thread.report_on_exception = false }.each(&:join)
  end

  def send_signal(server, name, whom)
    Process.kill(name, whom == "group" ? -server.pid : server.pid)
  end

  def test_a_repeated_stop_signal_is_the_same_stop
    cases = WORKERS.product(MODES).zip(REPEATED.cycle).map do |(workers, mode), signals|
      [["--mode", mode, *workers], { app: "draining.ru", signals: signals }]
    end
    cases.each_slice(3) { |some| each_server(some) { |server, rest, folder| check_repeated(server, rest.fetch(:signals), folder) } }
  end

  def check_repeated(server, signals, folder)
    RawClient.open(server.port) do |client|
      client.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      Timeout.timeout(PATIENCE) { sleep 0.02 until File.exist?("#{folder}/begun") }
      signals.each { |name, whom| send_signal(server, name, whom) }
      server.await(/stopping the workers|finishing the request in flight/)
      send_signal(server, *signals.last)
      File.write("#{folder}/go", "")
      assert_equal 200, client.response&.status, signals.inspect
    end
    assert_equal 0, server.await_end.exitstatus, server.lines.join
  end

  # The sockets that end to listen are no trouble.
  def test_a_stop_tells_of_no_client_that_cannot_be_accepted
    BACKENDS.product(WORKERS) do |backend, workers|
      ServerProcess.open("--backend", backend, *workers, app: "exit_in_request.ru") do |server|
        assert_predicate server.stop, :success?
        refute_match(/cannot accept connections/, server.lines.join)
      end
    end
  end

  # rake test:signals in short.
  SIGNAL_PAIRS = [
    [%w[INT TERM], 0.005, %i[group process], 2], [%w[TERM TERM], 0, %i[process group], 0], [%w[USR1 TERM], 0.05, %i[group group], 2],
    [%w[HUP INT], 0.5, %i[group process], 0]
  ].freeze

  def test_no_request_is_lost_by_two_signals
    SIGNAL_PAIRS.each do |pair, pause, targets, workers|
      round = Signals::SignalPair.new(pair, pause, targets, clients: 50, arguments: ["-w", workers.to_s], seed: Minitest.seed)
      assert_empty round.run.failures.tally, round.name
    end
  end

  # @return [Array] what keeps the server, how its mode and workers are, and the line that tells what is given up
  def keepers
    in_ruby = /exiting with requests in flight after 1 s of --drain-timeout: GET \/\w+ from 127\.0\.0\.1/
    without = /exiting with requests in flight after 1 s of --drain-timeout: a C extension holds Ruby's lock/
    killed = /killing worker process \d+: its requests did not finish within [\d.]+ s; raise --drain-timeout/
    [
      ["/sleeps", "inline", 0, in_ruby], ["/computes", "fibers", 0, in_ruby], ["/keeps_lock", "fibers", 0, without],
      ["/computes", "inline", 0, in_ruby], ["/keeps_lock", "threads:2", 0, without], ["/sleeps", "threads:2", 0, in_ruby],
      ["/sleeps", "inline", 1, in_ruby], ["/computes", "fibers", 1, in_ruby], ["/keeps_lock", "fibers", 1, killed]
    ]
  end

  def test_the_process_ends_by_the_deadline_whatever_a_request_does
    cases = keepers.map do |path, mode, workers, line|
      [["--mode", mode, "-w", workers.to_s, *DEADLINE], { app: "endless_requests.ru", path: path, line: line }]
    end
    cases.each_slice(3) do |some|
      each_server(some) do |server, rest|
        RawClient.open(server.port) do |client|
          client.write("GET #{rest.fetch(:path)} HTTP/1.1\r\nHost: a\r\n\r\n")
          server.await(/begun/)
          assert_ended_by_deadline(server, rest.fetch(:line))
        end
      end
    end
  end

  def assert_ended_by_deadline(server, line)
    told = now
    server.signal("TERM")
    server.await(line)
    assert_equal 1, server.await_end.exitstatus, server.lines.join
    assert_operator now - told, :<, ENDED_WITHIN, server.lines.join
  end

  def test_the_process_ends_by_the_deadline_whatever_a_client_does
    cases = { "inline" => "text", "fibers" => nil, "threads:2" => nil }.map do |mode, text|
      [["--mode", mode, *DEADLINE], { app: "endless_requests.ru", text: text }]
    end
    each_server(cases) do |server, rest|
      WebSocketClient.open(server.port, "/stays") do |client|
        server.await(/open/)
        rest[:text] && client.send_text(rest[:text]) && server.await(/begun/)
        assert_ended_by_deadline(server, /exiting with requests in flight after 1 s of --drain-timeout: GET \/stays from 127\.0\.0\.1/)
      end
    end
  end

  def test_a_restart_of_a_preloaded_application_tells_which_code_runs
    each_server([[%w[-w 1 --preload], { app: "app.ru" }]]) do |server|
      server.signal("USR1")
      server.await(/SIGUSR1: with --preload, new workers run the code loaded at startup; to load new code, restart the server/)
      server.await(/worker 0 was replaced/)
      assert_equal 0, server.stop.exitstatus
    end
  end

  def test_at_exit_has_a_deadline
    cases = WORKERS.map { |workers| [["-p", "0", *workers, *DEADLINE], { app: "endless_requests.ru", environment: { "HANGS_AT_EXIT" => "1" } }] }
    each_server(cases) do |server|
      assert_ended_by_deadline(server, /exit forced: an at_exit|killing worker process \d+: its requests did not finish/)
    end
  end

  def test_few_clients_leave_at_once_and_are_told_of
    cases = WORKERS.map { |workers| [["--drain-timeout", "600", *workers], { app: "websocket_clients.ru" }] }
    each_server(cases) do |server|
      clients = Array.new(3) { |number| WebSocketClient.new(server.port, "/?#{number}") }
      clients.size.times { server.await(/\d: open/) }
      server.signal("INT")
      server.await(/closing (one|two|\d) WebSockets? (and|or) event streams?, for at most 600 s/)
      clients.each { |client| assert_equal ["going", nil, 1001], [client.receive, client.receive, client.close_code] }
      assert_equal 0, server.await_end.exitstatus
    ensure
      clients&.each(&:close_socket)
    end
  end

  def test_a_crowd_of_clients_leaves_little_by_little
    each_server([[["--drain-timeout", "6000"], { app: "websocket_clients.ru" }]]) do |server|
      clients = Array.new(CROWD) { |number| WebSocketClient.new(server.port, "/?#{number}") }
      clients.size.times { server.await(/\d: open/) }
      server.read_on.signal("TERM")
      Timeout.timeout(PATIENCE) { sleep 0.02 until server.lines.any?(/closing #{CROWD} WebSockets and event streams/) }
      assert_operator IO.select(clients, nil, nil, 0)&.first.to_a.size, :<, CROWD / 2
      server.kill
    ensure
      clients&.each(&:close_socket)
    end
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
