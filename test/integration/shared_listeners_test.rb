# frozen_string_literal: true

require "socket"
require_relative "../test_helper"
require_relative "../support/held_request_app"
require_relative "../support/socket_activation"

# A listening socket that all workers share: no client waits for a busy worker while another is idle.
class SharedListenersTest < Minitest::Test
  CLIENTS = 20
  ANSWER_MAX = 10 # seconds
  ANSWER_BYTES_MAX = 4096
  OPTIONS = ["-w", "2", "--mode", "inline", "--worker-timeout", "600", *ServerProcess::PATIENT].freeze # no worker is killed

  # Yields a server, the address of its socket, and its application: for a UNIX socket and inherited ones, on each backend.
  def each_cluster
    BACKENDS.each do |backend|
      %i[own_unix inherited_unix inherited_tcp].each do |kind|
        HeldRequestApp.open do |app|
          options, address = send(kind, app.file("socket"))
          ServerProcess.open(*OPTIONS, "--backend", backend, app: app.path, **options) do |server|
            yield server.read_on, address, app, "#{backend}, #{kind}"
          end
        end
      end
    end
  end

  def own_unix(path)
    [{ bind: ["-b", "unix:#{path}"] }, Addrinfo.unix(path)]
  end

  def inherited_unix(path)
    pass_on(SocketActivation.unix(path))
  end

  def inherited_tcp(_path)
    pass_on(SocketActivation.tcp)
  end

  def pass_on(socket)
    (@sockets ||= []) << socket
    [SocketActivation.options([socket]), socket.local_address]
  end

  def teardown
    @sockets&.each(&:close)
  end

  # @return [String, nil] the body, if it comes in time
  def get(address, path = "/")
    address.connect do |client|
      client.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      client.wait_readable(ANSWER_MAX) && client.readpartial(ANSWER_BYTES_MAX)[/\r\n\r\n(.*)/, 1]
    end
  end

  def stop_worker(pid)
    Process.kill("STOP", pid)
    sleep 0.01 until File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] == "T"
  end

  def test_a_stopped_worker_gets_no_client
    each_cluster do |server, address, _app, kind|
      server.workers.permutation.each do |stopped, other|
        stop_worker(stopped)
        CLIENTS.times { |number| assert_equal "first #{other}", get(address), "#{kind}, client #{number}" }
        Process.kill("CONT", stopped)
      end
      assert_predicate server.stop, :success?
    end
  end

  def test_a_worker_that_computes_gets_no_client
    each_cluster do |server, address, app, kind|
      held = Thread.new { address.connect { |client| client.write("GET /held HTTP/1.0\r\n\r\n") && client.read } }
      app.await_begun
      pids = Array.new(CLIENTS) { |number| get(address) || flunk("#{kind}, client #{number}") }.uniq
      app.release
      assert_match(/\AHTTP\S+ 200 .*first \d+\z/m, held.value)
      assert_equal 1, pids.size
      refute_equal held.value[/\d+\z/], pids.first[/\d+\z/]
      assert_predicate server.stop, :success?
    end
  end
end
