# frozen_string_literal: true

require_relative "../test_helper"

# The sockets that a server listens on, a set for each worker or loop.
class ListenersTest < Minitest::Test
  CLIENTS = 64 # of one address: that one of two sockets gets none of them is out of the question

  def teardown
    @opened&.each { |listener| listener.socket.close }
  end

  # @return [Array<Array<Socket>>]
  def open_sets(count, reuse_port: true, **settings)
    configuration = Upwell::Configuration.new(settings, environment: {})
    sets = Upwell::Server::Listeners.new(configuration, reuse_port: reuse_port).open_sets(count)
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
    assert_equal "cannot listen on 127.0.0.1: the port #{port} is taken; stop the other server or choose another with -p", error.message
    assert_equal 2, @opened.size
  end
end
