# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/tls_client"

# As many clients as `connections_max` allows: idle ones make room for newcomers, the longest idle first.
class ConnectionsMaxTest < Minitest::Test
  ROOM = 3
  LIMIT = 64 # of descriptors
  OPTIONS = ["--connections-max", ROOM.to_s, *ServerProcess::PATIENT].freeze

  # A client that was served, and stays.
  def come(server, client_class)
    client_class.new(server.port).tap { |client| assert_served(client) }
  end

  def assert_served(client)
    client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert_equal 200, client.response.status
  end

  def assert_room(server, client_class: RawClient)
    busy, *clients = Array.new(ROOM) { come(server, client_class) }
    busy.write("GET / HTTP/1.1\r\n")
    clients << come(server, client_class) << come(server, client_class)
    assert_equal ["", ""], clients.shift(2).map(&:read_all)
    busy.write("Host: a\r\n\r\n")
    assert_equal 200, busy.response.status
    clients.each { |client| assert_served(client) }
  ensure
    [busy, *clients].compact.each(&:close)
  end

  (BACKENDS.product(["fibers"]) | [BACKENDS.first].product(MODES)).each do |backend, mode|
    define_method("test_an_idle_client_makes_room_#{backend}_#{mode}") do
      ServerProcess.open("--backend", backend, "--mode", mode, *OPTIONS) { |server| assert_room(server) }
    end
  end

  [BACKENDS.first, "epoll"].uniq.each do |backend|
    define_method("test_an_idle_client_of_tls_makes_room_#{backend}") do
      ServerProcess.open("--backend", backend, "-s", "-c", Certificates.localhost.path, "-k", Certificates.localhost.key_path,
                         *OPTIONS) do |server|
        assert_room(server, client_class: TLSClient)
      end
    end

    # More clients that stay than the process may have descriptors.
    define_method("test_idle_clients_make_room_where_descriptors_run_out_#{backend}") do
      ServerProcess.open("--backend", backend, *ServerProcess::PATIENT, spawn: { rlimit_nofile: [LIMIT, LIMIT] }) do |server|
        clients = Array.new(LIMIT * 2) { come(server, RawClient) }
        assert_equal "", clients.first.read_all
        assert_served(clients.last)
        clients.each(&:close)
      end
    end
  end

  def test_an_idle_client_of_a_worker_makes_room
    ServerProcess.open("-w", "1", *OPTIONS) { |server| assert_room(server) }
  end

  def test_an_idle_client_of_the_static_server_makes_room
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "index.html"), "hello")
      ServerProcess.open(*OPTIONS, app: folder, command: ["static"]) { |server| assert_room(server) }
    end
  end
end
