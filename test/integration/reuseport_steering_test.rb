# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/held_request_app"

# To which workers the clients of a TCP port go, while one of them accepts nobody.
class ReuseportSteeringTest < Minitest::Test
  PATIENCE = 60 # seconds
  CLIENTS = 30 # with two sockets to choose from, all of them come to one by chance once in half a thousand million
  ANSWER_BYTES_MAX = 4096
  WORKER_TIMEOUT = "40" # seconds without a sign of life, and a worker is killed: which must not come to pass on a loaded machine

  def cluster(*arguments)
    HeldRequestApp.open do |app|
      ServerProcess.open("-w", "2", *arguments, app: app.path) do |server|
        Timeout.timeout(PATIENCE) { yield server, app }
      end
    end
  end

  def get(server)
    RawClient.get(server.port, "/").body
  end

  # That may take thousands of requests, each of which the application tells: a worker that was stopped between a sign of life and its sleep
  # until the next is silent for that long again.
  def await_both(server, pids)
    server.read_on
    seen = []
    until (pids - seen).empty?
      seen |= [get(server)[/\d+\z/].to_i]
      assert_equal pids, server.workers # or nobody has that number any more
    end
  end

  def test_while_a_worker_boots_its_clients_go_to_the_other
    BACKENDS.each do |backend|
      cluster("--backend", backend) do |server, app|
        victim, other = server.workers
        app.hang_at_boot
        Process.kill("KILL", victim)
        app.await_booting
        CLIENTS.times { assert_equal "first #{other}", get(server) }
        successor = (server.workers - [other]).first
        app.boot('VERSION = "first"')
        Process.kill("KILL", successor)
        server.await(/worker \d \(#{successor}\) died/)
        sleep 0.02 until server.workers.size == 2
        await_both(server, server.workers)
        assert_equal 0, server.stop.exitstatus
      end
    end
  end

  def test_a_worker_that_is_stopped_gets_no_clients
    cluster("--worker-timeout", WORKER_TIMEOUT) do |server, _app|
      pids = server.workers
      stopped, other = pids
      Process.kill("STOP", stopped)
      await_streak(server.port, " #{other}")
      assert_equal pids, server.workers # not killed yet
      Process.kill("CONT", stopped)
      await_both(server, pids)
      assert_equal 0, server.stop.exitstatus
    end
  end

  # Each address has sockets of its own, and each loop of a worker.
  def test_several_addresses_and_loops
    skip "no IPv6" unless Socket.ip_address_list.any?(&:ipv6_loopback?)
    Dir.mktmpdir do |directory|
      File.write(File.join(directory, "a.txt"), "content")
      options = ["-w", "2", "--threads", "2", "-b", "127.0.0.1", "-b", "[::1]", "--worker-timeout", WORKER_TIMEOUT]
      ServerProcess.open(*options, app: directory, command: ["static"]) { |server| Timeout.timeout(PATIENCE) { stop_a_worker(server) } }
    end
  end

  def stop_a_worker(server)
    pids = server.workers
    Process.kill("STOP", pids.first)
    addresses = server.lines.last.scan(%r{http://(\S+):(\d+)})
    assert_operator addresses.uniq.size, :>=, 2
    addresses.each { |host, port| await_streak(port, "content", host.delete("[]")) }
    assert_equal pids, server.workers # not killed yet
    Process.kill("CONT", pids.first)
    assert_equal 0, server.stop.exitstatus
  end

  # Until so many clients, one after the other, are answered at once.
  def await_streak(port, answer, host = "127.0.0.1")
    streak = 0
    streak = answered?(host, port, answer) ? streak + 1 : 0 until streak == CLIENTS
  end

  # A worker may be stopped between its answer and the end of the connection.
  def answered?(host, port, answer)
    client = TCPSocket.new(host, port)
    client.write("GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    client.wait_readable(0.5) && client.read_nonblock(ANSWER_BYTES_MAX, exception: false)&.end_with?(answer)
  ensure
    client&.close
  end
end
