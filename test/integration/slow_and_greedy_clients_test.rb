# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/retrying_client"
require_relative "../support/request_release_file"
require_relative "../support/elapsed_time"

# Clients that are slow, greedy or gone must not disturb others, on any backend.
class SlowAndGreedyClientsTest < Minitest::Test
  include ElapsedTime

  HELLO = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  HEAD_TIMEOUT = 0.3

  def each_backend(*arguments)
    BACKENDS.each { |backend| ServerProcess.open("--backend", backend, *arguments) { |server| yield server } }
  end

  def assert_serves(server)
    assert_equal 200, RawClient.get(server.port, "/").status
  end

  def test_a_slow_head_is_answered_408
    each_backend("--head-timeout", HEAD_TIMEOUT.to_s) do |server|
      client = RetryingClient.open(server.port, "GET / HTTP/1.1\r\nHo", HEAD_TIMEOUT)
      assert_equal 408, client.response.status
      assert_predicate client, :closed?
      client.close
      RawClient.open(server.port) { |client| assert_equal "", client.read_all } # not a byte: closed without a word
    end
  end

  def test_deadlines_count_from_the_present_after_an_idle_time
    each_backend("--head-timeout", HEAD_TIMEOUT.to_s) do |server|
      RetryingClient.open(server.port, HELLO, HEAD_TIMEOUT).tap { |client| assert_equal 200, client.response.status }.close
      sleep 0.7 # nothing to await: that nothing happens is the point
      assert_operator seconds_until_the_end(server), :>=, HEAD_TIMEOUT * 0.9
    end
  end

  # Of a client that does not finish its head.
  def seconds_until_the_end(server)
    seconds { RawClient.open(server.port) { |client| client.write("GET /") && client.read_all } }
  end

  def test_a_slow_body_is_answered_408
    each_backend("--body-timeout", "0.3") do |server|
      RawClient.open(server.port) do |client|
        client.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01")
        assert_equal 408, client.response.status
      end
    end
  end

  def test_a_silent_kept_connection_is_closed
    each_backend("--keep-alive-timeout", "0.3") do |server|
      RawClient.open(server.port) do |client|
        client.write(HELLO)
        assert_equal 200, client.response.status
        assert_equal "", client.read_all
      end
    end
  end

  def test_a_slow_reader_is_cut_off_and_held_in_check
    each_backend("--write-timeout", "0.5") do |server|
      assert_serves(server)
      before = memory(server)
      descriptors = server.descriptors
      RawClient.open(server.port) do |client|
        client.write("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        client.socket.wait_readable(5)
        assert_serves(server)
        assert_operator memory(server) - before, :<, 10_000 # KiB, of a response of 20,000
        Timeout.timeout(10) { sleep 0.05 until server.descriptors <= descriptors }
      end
    end
  end

  def test_requests_sent_ahead_wait_in_bounded_memory
    each_backend do |server|
      RawClient.open(server.port) do |client|
        assert_serves(server)
        before = memory(server)
        text = HELLO * 1000
        sent = 0
        while sent < 50_000_000 && (written = client.socket.write_nonblock(text, exception: false)).is_a?(Integer)
          sent += written
        end
        assert_operator sent, :<, 50_000_000 # it stopped reading
        assert_serves(server)
        assert_operator memory(server) - before, :<, 10_000
      end
    end
  end

  def test_more_connections_than_allowed_wait_their_turn
    each_backend("--connections-max", "5") do |server|
      clients = Array.new(5) { RawClient.new(server.port) }
      clients.each { |client| client.write(HELLO) }
      clients.each { |client| assert_equal 200, client.response.status }
      RawClient.open(server.port) do |waiting|
        waiting.write(HELLO)
        clients.each(&:close)
        assert_equal 200, waiting.response.status
      end
    end
  end

  # Idle connections make room, as at `connections_max`.
  def test_out_of_descriptors_all_that_come_are_served
    each_backend do |server|
      RawClient.open(server.port) do |connected|
        connected.write(HELLO)
        assert_equal 200, connected.response.status
        limit_descriptors(server, server.descriptors + 3)
        others = Array.new(10) { RawClient.new(server.port) }
        others.each { |client| client.write(HELLO) }
        others.each { |client| assert_equal 200, client.response.status }
        others.each(&:close)
      end
    end
  end

  def test_while_all_threads_compute_the_loop_accepts_and_times_out
    each_backend("--mode", "threads:2", "--head-timeout", HEAD_TIMEOUT.to_s) do |server|
      RequestReleaseFile.open { |release| compute(server, release) }
    end
  end

  private

  def compute(server, release)
    busy = Array.new(2) { RetryingClient.open(server.port, "GET /compute?#{release.path} HTTP/1.1\r\nHost: a\r\n\r\n", HEAD_TIMEOUT) }
    assert_equal 408, RetryingClient.request(server.port, "GET /", HEAD_TIMEOUT).status
    busy.each { |other| refute other.socket.wait_readable(0) } # they compute still
    release.give
    busy.each { |client| assert_equal 200, client.response.status }
  ensure
    busy&.each(&:close)
  end

  # Resident memory in KiB.
  def memory(server)
    File.read("/proc/#{server.pid}/status")[/VmRSS:\s+(\d+)/, 1].to_i
  end

  def limit_descriptors(server, count)
    assert system("prlimit", "--pid", server.pid.to_s, "--nofile=#{count}:#{count}")
  end
end
