# frozen_string_literal: true

require "test_helper"

# The sockets that a server listens on, a set for each worker or loop.
class ListenersTest < Minitest::Test
  CLIENTS = 64 # of one address: that one of two sockets gets none of them is out of the question

  def teardown
    @opened&.each { |listener| listener.socket.close }
  end

  # @return [Array<Array<Socket>>]
  def open_sets(count, reuse_port: true, **settings)
    configuration = Upwell::Configuration.new(settings, environment: {})
    sets = Upwell::Server::Listening::Listeners.new(configuration, reuse_port: reuse_port).open_sets(count)
    (@opened ||= []).concat(sets.flatten(1))
    sets.map { |set| set.map(&:socket) }
  end

  def test_clients_of_every_address_are_spread_over_the_sets
    open_sets(2, bind: ["localhost", "127.0.0.2"], port: 0).transpose.each do |sockets|
      assert_equal 1, sockets.map { |socket| socket.local_address.ip_unpack }.uniq.size
      counts = counts_of_clients(sockets)
      assert_equal CLIENTS, counts.sum
      assert_predicate counts.min, :positive?
    end
  end

  # @return [Array<Integer>] how many of those that connect each socket gets
  def counts_of_clients(sockets)
    address = sockets.first.local_address
    clients = Array.new(CLIENTS) { address.connect }
    sockets.map { |socket| accepted(socket) }
  ensure
    clients&.each(&:close)
  end

  def accepted(socket)
    count = 0
    count += 1 until socket.accept_nonblock(exception: false) == :wait_readable
    count
  end

  def with_path
    Dir.mktmpdir { |folder| yield File.join(folder, "s") }
  end

  def test_a_unix_socket_has_the_mode_from_the_beginning
    with_path do |path|
      modes = []
      trace = TracePoint.new(:c_return) do |call|
        modes << (File.stat(path).mode & 0o777) if call.method_id == :bind
      end
      trace.enable { open_sets(1, bind: ["unix:#{path}?mode=0660"]) }
      assert_equal [0o660], modes
      assert_equal 0o660, File.stat(path).mode & 0o777
    end
  end

  def test_a_unix_socket_has_its_owner_before_anyone_can_connect
    skip "needs root" unless Process.uid.zero?
    with_path do |path|
      refused = []
      trace = TracePoint.new(:c_call) do |call|
        next unless call.method_id == :listen

        refused << (Socket.unix(path).close rescue $!.class) << File.stat(path).gid # rubocop:disable Style/RescueModifier, Style/SpecialGlobalVars
      end
      trace.enable { open_sets(1, bind: ["unix:#{path}?mode=600&user=65534&group=daemon"]) }
      status = File.stat(path)
      assert_equal [Errno::ECONNREFUSED, Etc.getgrnam("daemon").gid], refused
      assert_equal [65_534, Etc.getgrnam("daemon").gid, 0o600], [status.uid, status.gid, status.mode & 0o777]
    end
  end

  def test_a_unix_socket_without_parameters_has_what_the_umask_leaves
    with_path do |path|
      open_sets(1, bind: ["unix:#{path}"])
      assert_equal 0o777 & ~File.umask, File.stat(path).mode & 0o777
    end
  end

  UNSOUND = {
    "unix:/s?foo=1" => /must have only mode, user, group after the question mark, not foo/, "unix:?mode=0660" => /must name a path/,
    "unix:/s?mode=9" => /must have a mode of three octal digits/,
    "unix:/s?group=nobody_at_all" => /must name an existing group/,
    "unix:/s?user=nobody_at_all" => /must name an existing user/
  }.freeze

  def test_parameters_of_unix_sockets_that_cannot_be
    UNSOUND.each do |bind, message|
      error = assert_raises(Upwell::ConfigurationError, bind) { Upwell::Configuration.new({ bind: [bind] }, environment: {}) }
      assert_match(/\Aoption bind: #{message.source}/, error.message)
    end
  end

  # @return [Array<Boolean>] whether clients of IPv4, and of IPv6, are accepted by one of the sockets
  def families(sockets, port)
    %w[127.0.0.1 ::1].map do |host|
      TCPSocket.new(host, port).close
      sockets.sum { |socket| accepted(socket) } == 1
    rescue Errno::ECONNREFUSED
      false
    end
  end

  def port_of(socket)
    socket.local_address.ip_port
  end

  def test_any_address_of_ipv6_is_of_both_families
    sets = open_sets(2, bind: ["[::]"], port: 0)
    assert_equal [true, true], families(sets.flatten, port_of(sets.first.first))
    counts = counts_of_clients(sets.flatten)
    assert_equal CLIENTS, counts.sum
    assert_predicate counts.min, :positive?, "each set is of both families"
  end

  def test_any_address_of_ipv6_beside_ipv4_on_the_same_port
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    [["[::]", "0.0.0.0"], ["0.0.0.0", "[::]"], ["127.0.0.1", "[::]"], [":#{port}"], ["[::]:#{port}", "127.0.0.1"]].each do |binds|
      sockets = open_sets(2, bind: binds, port: port).flatten
      assert_equal [true, true], families(sockets, port), binds
      sockets.each(&:close)
      @opened.clear
    end
  end

  def test_any_address_of_ipv6_beside_ipv4_on_another_port
    sockets = open_sets(1, bind: ["[::]", "127.0.0.1"], port: 0).flatten
    assert_equal [true, true], families(sockets, port_of(sockets.first))
  end

  def test_one_address_of_ipv6_is_of_ipv6
    sockets = open_sets(1, bind: ["[::1]"], port: 0).flatten
    assert_equal [false, true], families(sockets, port_of(sockets.first))
  end

  # As gVisor has it.
  def test_a_port_that_cannot_be_shared
    first, second = open_sets(2, bind: ["127.0.0.1"], port: 0, reuse_port: false)
    assert_equal first, second
  end

  # The other opens it where the first is about to listen.
  def test_of_two_that_open_a_port_at_once_one_gets_it
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    other = TracePoint.new(:c_call) do |call|
      open_sets(2, bind: ["127.0.0.1"], port: port) if call.method_id == :listen && @opened.nil?
    end
    error = assert_raises(Upwell::ConfigurationError) { other.enable { open_sets(2, bind: ["127.0.0.1"], port: port) } }
    assert_equal "cannot listen on 127.0.0.1: the port #{port} is taken; stop the other server, or choose another port with -p or -b",
                 error.message
    assert_equal 2, @opened.size
  end
end
