# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/notify_socket"
require_relative "../support/socket_activation"
require_relative "../support/tls_client"

# Sockets that the service manager has opened: the server serves on them, and they outlive it.
class SocketActivationTest < Minitest::Test
  APP = <<~'RUBY'
    variables = ->(_) { IO.popen(["env"], &:read).scan(/^(?:LISTEN_|NOTIFY_)\w+/).join(" ") }
    descriptors = lambda do |_|
      IO.popen(["sh", "-c", "ls -l /proc/self/fd"], &:read).scan(/socket:\[(\d+)\]/).flatten.join(" ")
    end
    run(lambda do |env|
      answer = { "/variables" => variables, "/descriptors" => descriptors }.fetch(env["PATH_INFO"]) { ->(_) { Process.pid.to_s } }
      [200, { "content-type" => "text/plain" }, [answer.call(env)]]
    end)
  RUBY
  HELD_UNTIL_DRAIN = <<~'RUBY'
    drains = Queue.new
    Upwell::Server.prepend(Module.new { define_method(:drain) { |*arguments, **options| super(*arguments, **options).tap { drains << true } } })
    run(lambda do |env|
      if env["PATH_INFO"] == "/held"
        File.write(File.join(__dir__, "held.#{Process.pid}"), "")
        drains.pop
      end
      [200, {}, []]
    end)
  RUBY
  KINDS = [[], %w[-w 2], %w[-w 2 --preload]].freeze
  PATIENCE = 60
  CLIENTS = 5 # in the backlog of each socket
  GET = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  def setup
    @folder = Dir.mktmpdir
    @app = File.join(@folder, "config.ru")
    File.write(@app, APP)
  end

  def teardown
    @sockets&.each(&:close)
    FileUtils.rm_rf(@folder)
  end

  def keep(socket)
    (@sockets ||= []) << socket
    socket
  end

  def tcp(...)
    keep(SocketActivation.tcp(...))
  end

  def unix(path = File.join(@folder, "s"))
    keep(SocketActivation.unix(path))
  end

  def port(socket)
    SocketActivation.port(socket)
  end

  def serve(sockets, *arguments, **options, &block)
    SocketActivation.open(sockets, *arguments, app: @app, **options) { |server| Timeout.timeout(PATIENCE) { block.call(server) } }
  end

  def get(socket, path = "/")
    RawClient.get(port(socket), path).body
  end

  def get_unix(path)
    UNIXSocket.open(path) { |client| client.write(GET) && client.read }
  end

  def test_only_the_inherited_sockets
    KINDS.each do |kind|
      sockets = [tcp, tcp, unix(path = File.join(@folder, "s#{kind.size}"))]
      serve(sockets, *kind) do |server|
        urls = server.lines.last[/serves on (.*) \(\w+, /, 1]
        expected = ["http://127.0.0.1:#{port(sockets[0])}", "http://127.0.0.1:#{port(sockets[1])}", "unix:#{path}"]
        assert_equal expected.map { |url| "#{url} (inherited)" }.join(", "), urls
        sockets.first(2).each { |socket| assert_match(/\A\d+\z/, get(socket)) }
        assert_match(/200 OK/, get_unix(path))
        assert_predicate server.stop, :success?
      end
      assert File.socket?(path)
    end
  end

  def test_the_file_server
    File.write(File.join(@folder, "a.txt"), "hello")
    [[], %w[-w 2], %w[--threads 2]].each do |kind|
      socket = tcp
      SocketActivation.open([socket], *kind, app: @folder, command: ["static"]) do |server|
        assert_equal "hello", get(socket, "/a.txt")
        assert_predicate server.stop, :success?
      end
    end
  end

  def test_children_know_nothing_of_the_sockets
    socket = tcp
    serve([socket], environment: { "LISTEN_FDNAMES" => "web" }) do
      assert_equal "", get(socket, "/variables")
      refute_includes get(socket, "/descriptors").split, socket.stat.ino.to_s
    end
  end

  def test_children_of_the_configuration_file_know_nothing_of_them
    config = File.join(@folder, "upwell.rb")
    File.write(config, 'File.write(File.join(__dir__, "seen"), IO.popen(["sh", "-c", "env; ls -l /proc/self/fd"], &:read))')
    socket = tcp
    NotifySocket.open(File.join(@folder, "notify")) do |heard|
      environment = { "NOTIFY_SOCKET" => heard.address, "WATCHDOG_USEC" => "9000000", "LISTEN_FDNAMES" => "web" }
      serve([socket], "-C", config, environment: environment) { heard.await("READY") }
    end
    seen = File.read(File.join(@folder, "seen"))
    refute_match(/^(?:LISTEN_|NOTIFY_|WATCHDOG_)/, seen)
    refute_includes seen, "socket:[#{socket.stat.ino}]"
  end

  def test_a_client_that_comes_after_the_end_waits_for_the_next_server
    KINDS.each do |kind|
      sockets = [tcp, unix(path = File.join(@folder, "s#{kind.size}"))]
      serve(sockets, *kind) { |server| assert_predicate server.stop, :success? }
      clients = [TCPSocket.new("127.0.0.1", port(sockets.first)), UNIXSocket.new(path)]
      clients.each { |client| client.write(GET) }
      serve(sockets, *kind) { clients.each { |client| assert_match(/200 OK/, client.read) } }
    end
  end

  # Each worker serves a request until it drains, so it has accepted no other client. These send their requests after its end.
  def test_a_client_in_the_backlog_at_the_end_waits_for_the_next_server
    File.write(@app, HELD_UNTIL_DRAIN)
    BACKENDS.product(KINDS).each_with_index do |(backend, kind), number|
      sockets = [tcp, unix(path = File.join(@folder, "s#{number}"))]
      clients = serve(sockets, *kind, "--mode", "inline", "--backend", backend) do |server|
        held = hold(sockets.first, server)
        waiting = Array.new(CLIENTS) { [TCPSocket.new("127.0.0.1", port(sockets.first)), UNIXSocket.new(path)] }.flatten
        assert_predicate server.stop, :success?
        held.each { |client| assert_match(/200 OK/, client.read) }
        waiting
      end
      clients.each { |client| client.write(GET) }
      serve(sockets, *kind) { clients.each { |client| assert_match(/200 OK/, client.read, "#{backend} #{kind}") } }
    end
  end

  # @return [Array<Socket>] a client of each worker
  def hold(socket, server)
    (server.workers.empty? ? [server.pid] : server.workers).map.with_index(1) do |_pid, count|
      client = TCPSocket.new("127.0.0.1", port(socket))
      client.write(GET.sub("/", "/held"))
      sleep 0.01 until (server.workers + [server.pid]).count { |pid| File.exist?(File.join(@folder, "held.#{pid}")) } == count
      client
    end
  end

  # A worker that computes accepts no other client.
  def test_both_workers_have_clients
    File.write(@app, <<~RUBY)
      now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
      run ->(_) { finish = now.call + 0.02; nil while now.call < finish; [200, {}, [Process.pid.to_s]] }
    RUBY
    BACKENDS.each do |backend|
      sockets = [tcp, unix(path = File.join(@folder, backend))]
      serve(sockets, "-w", "2", "--backend", backend) do
        assert_equal 2, answering { get(sockets.first) }, backend
        assert_equal 2, answering { get_unix(path)[/\d+\z/] }, backend
      end
    end
  end

  # @return [Integer] how many workers answer clients that come at the same time
  def answering(&request)
    Array.new(4) { Thread.new { Array.new(10, &request) } }.flat_map(&:value).uniq.size
  end

  def test_a_phased_restart_and_the_death_of_a_worker
    [%w[-w 2], %w[-w 1 --preload]].each do |kind|
      socket = tcp
      serve([socket], *kind) do |server|
        before = server.workers
        server.signal("USR1")
        before.size.times { server.await(/worker \d was replaced/) }
        refute_includes before, get(socket).to_i
        server.workers.each { |pid| Process.kill("KILL", pid) && server.await(/\(#{pid}\) died/) }
        client = TCPSocket.new("127.0.0.1", port(socket))
        client.write(GET)
        assert_match(/200 OK/, client.read)
      end
    end
  end

  def test_an_explicit_address_that_is_inherited_and_another
    sockets = [tcp, unix]
    free = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
    serve(sockets, "-b", "localhost:#{port(sockets[0])}", "-b", "127.0.0.1:#{free}", "-b", "unix:#{@folder}/s") do |server|
      assert_match(/127.0.0.1:#{port(sockets[0])} \(inherited\), .*127.0.0.1:#{free}, unix:\S+ \(inherited\)/, server.lines.last)
      assert_match(/\A\d+\z/, get(sockets[0]))
      assert_match(/\A\d+\z/, RawClient.get(free, "/").body)
      assert_match(/200 OK/, get_unix("#{@folder}/s"))
    end
  end

  def test_a_socket_for_all_addresses_covers_each
    socket = tcp("::", 0)
    %w[0.0.0.0 127.0.0.1 [::1]].each do |host|
      serve([socket], "-b", "#{host}:#{port(socket)}") do |server|
        assert_match(/serves on http:\/\/\[::\]:#{port(socket)} \(inherited\) \(/, server.lines.last)
        assert_match(/\A\d+\z/, get(socket))
      end
    end
  end

  def test_a_name_with_invalid_characters
    socket = tcp
    serve([socket], environment: { "LISTEN_FDNAMES" => "w\xFF" }) { assert_match(/\A\d+\z/, get(socket)) }
  end

  def test_a_unix_path_through_a_symbolic_link
    FileUtils.mkdir(File.join(@folder, "run"))
    File.symlink("run", File.join(@folder, "var"))
    socket = unix(File.join(@folder, "run", "s"))
    serve([socket], "-b", "unix:#{@folder}/var/s") { |server| assert_match(%r{serves on unix:\S+/run/s \(inherited\) \(}, server.lines.last) }
  end

  def test_unix_paths_with_other_characters_than_ascii
    socket = unix(path = File.join(@folder, "\u00e9"))
    other = File.join(@folder, "\u00e8")
    %w[C.UTF-8 C].each do |locale|
      serve([socket], "-b", "unix:#{path}", "-b", "unix:#{other}", environment: { "LC_ALL" => locale }) do
        [path, other].each { |name| assert_match(/200 OK/, get_unix(name)) }
      end
    end
  end

  # As with ReusePort= in the unit: the kernel distributes clients over all sockets with the address.
  def test_several_sockets_with_one_address
    %w[127.0.0.1 0.0.0.0].each do |host|
      first = tcp(host, 0, reuse_port: true)
      sockets = [first, tcp("127.0.0.1", port(first), reuse_port: true)]
      [[], ["-b", "127.0.0.1:#{port(first)}"]].each do |arguments|
        serve(sockets, *arguments, "-w", "2") do |server|
          12.times { assert_match(/\A\d+\z/, get(first)) }
          assert_predicate server.stop, :success?
        end
      end
      clients = ("127.0.0.2".."127.0.0.9").map { |source| TCPSocket.new("127.0.0.1", port(first), source, 0) }
      serve(sockets) { clients.each { |client| client.write(GET) && assert_match(/200 OK/, client.read) } }
    end
  end

  def test_tls_for_all_sockets_with_one_address
    good = Certificates.localhost
    sockets = [first = tcp("127.0.0.1", 0, reuse_port: true), tcp("127.0.0.1", port(first), reuse_port: true)]
    serve(sockets, "-b", "ssl://127.0.0.1:#{port(first)}", "-c", good.path, "-k", good.key_path) do
      12.times { assert_match(/\A\d+\z/, TLSClient.get(port(first), "/").body) }
    end
  end

  def test_tls_by_the_address_or_for_all
    good = Certificates.localhost
    sockets = [tcp, tcp]
    certificate = ["-c", good.path, "-k", good.key_path]
    serve(sockets, "-b", "ssl://127.0.0.1:#{port(sockets[1])}", *certificate) do
      assert_match(/\A\d+\z/, get(sockets[0]))
      assert_match(/\A\d+\z/, TLSClient.get(port(sockets[1]), "/").body)
    end
    serve(sockets, "-s", "-w", "2", *certificate) do
      sockets.each { |socket| assert_match(/\A\d+\z/, TLSClient.get(port(socket), "/").body) }
    end
  end

  # @return [String] the sentence with which the server ends
  def refusal(count, *arguments, prefix: SocketActivation::AS_ITSELF, **passed)
    command = ServerProcess.spawn_arguments(*arguments, @app, environment: { "LISTEN_FDS" => count }, prefix: prefix)
    output, status = Open3.capture2e(*command, **passed)
    assert_equal 1, status.exitstatus, output
    output.lines.last
  end

  def test_wrong_sockets
    assert_match(/\Aupwell: LISTEN_FDS must be a number from 0 to 16, got "abc"; /, refusal("abc"))
    assert_match(/\Aupwell: LISTEN_FDS must be a number from 0 to 16, got "17"; /, refusal("17"))
    datagram = keep(UDPSocket.new)
    assert_match(/descriptor 3 is not a stream socket; use ListenStream=/, refusal("1", 3 => datagram))
    connected = keep(Socket.new(:INET, :STREAM))
    assert_match(/descriptor 3 does not listen; set Accept=no/, refusal("1", 3 => connected))
    File.open(File::NULL) { |file| assert_match(/descriptor 3 is not a socket/, refusal("1", 3 => file)) }
    assert_match(/descriptor 4 is not open; LISTEN_FDS must be the number of passed sockets/, refusal("2", 3 => tcp))
    path = unix
    assert_match(/secure has no effect without a TCP address/, refusal("1", "-s", 3 => path))
  end

  def test_sockets_of_another_process
    ServerProcess.open(app: @app, environment: { "LISTEN_FDS" => "1", "LISTEN_PID" => "1" }) do |server|
      assert_match(/inherited sockets are not used: LISTEN_PID is 1, and this process is #{server.pid}/, server.lines.join)
      assert_match(/\A\d+\z/, RawClient.get(server.port, "/").body)
    end
  end

  def test_systemd_itself
    skip "no systemd-socket-activate here (Debian: systemd)" unless system("which systemd-socket-activate", out: File::NULL)
    free = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
    variables = BundleGemPaths.environment_without_rubygems.keys.flat_map { |name| ["-E", name] }
    prefix = ["systemd-socket-activate", "-l", "127.0.0.1:#{free}", "--fdname=web", *variables, "-E", "PATH"]
    waker = Thread.new { wake(free) }
    ServerProcess.open(app: @app, bind: [], prefix: prefix) do |server|
      assert_match(/serves on http:..127.0.0.1:#{free} \(inherited\)/, server.lines.last)
      assert_match(/200 OK/, waker.value)
      assert_predicate server.stop, :success?
    end
  end

  # The command starts with the first client.
  #
  # @return [String] the response
  def wake(port)
    TCPSocket.open("127.0.0.1", port) { |client| client.write(GET) && client.read }
  rescue Errno::ECONNREFUSED
    sleep(0.02) && retry
  end
end
