# frozen_string_literal: true

require_relative "../test_helper"

# Whoever trusts an address trusts what the server says of it: a client must not pass for another, least of all for this machine.
class RemoteAddressTest < Minitest::Test
  CLIENT = "127.0.0.77"
  REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  TIMES = 20

  def setup
    @dir = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@dir)
  end

  # @return [Socket] bound to CLIENT
  def connect(port)
    socket = Socket.new(:INET, :STREAM)
    socket.bind(Addrinfo.tcp(CLIENT, 0))
    socket.connect(Addrinfo.tcp("127.0.0.1", port))
    socket
  end

  def reset(socket)
    socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    socket.close
  end

  # The kernel connects these clients; the server accepts them when they are gone.
  def send_requests_and_go(server)
    server.signal("STOP")
    TIMES.times { connect(server.port).tap { |socket| socket.write(REQUEST) }.then { |socket| reset(socket) } }
  ensure
    server.signal("CONT")
  end

  def test_a_client_of_ipv4_on_a_socket_of_both_families_has_its_own_address
    ServerProcess.open("-b", "[::]:0", app: "invalid_rack_responses.ru") do |server|
      port = Integer(server.lines.join[/\[::\]:(\d+)/, 1])
      %w[127.0.0.1 ::1].each do |address|
        body = TCPSocket.open(address, port) do |socket|
          socket.write("GET /env HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
          socket.read
        end
        assert_match(/^REMOTE_ADDR: #{address}$/, body)
      end
    end
  end

  def get(port)
    socket = connect(port)
    socket.write(REQUEST.sub("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
    socket.read
  ensure
    socket&.close
  end

  def each_server
    each_backend_and_mode do |backend, mode|
      ServerProcess.open("--backend", backend, "--mode", mode, app: "remote_addresses.ru") { |server| yield server }
    end
  end

  def test_a_client_that_reset_its_connection_before_it_was_accepted_is_nobody_else
    each_server do |server|
      send_requests_and_go(server)
      get(server.port)
      seen = JSON.parse(get(server.port)[/\[.*\]/]).map(&:first)
      assert_equal [CLIENT], seen.uniq
    end
  end

  def test_nor_in_the_access_log
    BACKENDS.each do |backend|
      log = File.join(@dir, backend)
      ServerProcess.open("--backend", backend, "--access-log", log, app: @dir, command: ["static"]) do |server|
        send_requests_and_go(server)
        get(server.port)
        server.stop
        assert_equal [CLIENT], File.readlines(log).map { |line| line[/\A\S+/] }.uniq
      end
    end
  end

  def test_a_client_of_a_unix_socket_is_this_machine
    path = File.join(@dir, "socket")
    ServerProcess.open("-b", "unix:#{path}", app: "remote_addresses.ru") do |server|
      server.signal("STOP")
      socket = UNIXSocket.new(path)
      socket.write(REQUEST)
      socket.close # before it was accepted
      server.signal("CONT")
      Timeout.timeout(30) { sleep 0.01 until get(server.port).include?('["127.0.0.1",') }
    end
  end
end
