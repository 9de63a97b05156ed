# frozen_string_literal: true

require "test_helper"
require "upwell/server"

# Which sockets get clients where the kernel cannot be told who accepts.
class ReuseportSteeringSettingTest < Minitest::Test
  CLIENTS = 64 # that one of two sockets gets none of them is out of the question
  WORKERS = 1026 # with one away there are more than the kernel can be told of

  # A place whose worker accepts clients, or does not.
  WorkerPlace = Struct.new(:index, :listeners, :accepts) do
    def accepts?(_now) = accepts
  end

  def setup
    @sockets = [listen(0)]
  end

  def teardown
    @sockets.each(&:close)
  end

  # As {Upwell::Server::Listening::Listeners} does: the first one can be shared only once it listens.
  def listen(port)
    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:SOCKET, :REUSEPORT, true) unless port.zero?
    socket.bind(Addrinfo.tcp("127.0.0.1", port))
    socket.listen(CLIENTS)
    socket.setsockopt(:SOCKET, :REUSEPORT, true)
    socket
  end

  def share
    @sockets << listen(address.ip_port)
  end

  def address
    @sockets.first.local_address
  end

  def places(count)
    Array.new(count) do |index|
      listener = Upwell::Server::Listening::Listeners::Listener.new(@sockets.first).tap { |one| one.index = index }
      WorkerPlace.new(index, [listener], true)
    end
  end

  def update(steering, places, accepting)
    places.each { |place| place.accepts = accepting.include?(place.index) }
    steering.update(0.0)
  end

  # @return [Array<Integer>] how many clients each socket gets
  def counts
    clients = Array.new(CLIENTS) { address.connect }
    @sockets.map { |socket| accepted(socket) }
  ensure
    clients&.each(&:close)
  end

  def accepted(socket)
    count = 0
    while socket.wait_readable(0)
      socket.accept.first.close
      count += 1
    end
    count
  end

  def test_where_more_accept_than_can_be_told_all_get_clients
    share
    places = places(WORKERS)
    steering = Upwell::Server::Listening::ReuseportSteering.new(places)
    update(steering, places, [0])
    assert_equal [CLIENTS, 0], counts
    update(steering, places, 0...(WORKERS - 1))
    assert_predicate counts.min, :positive?
    update(steering, places, [1])
    assert_equal [0, CLIENTS], counts
    update(steering, places, 0...WORKERS)
    assert_predicate counts.min, :positive?
  end

  def test_what_the_kernel_took_in_no_way_it_is_told_again
    places = places(2)
    steering = Upwell::Server::Listening::ReuseportSteering.new(places)
    update(steering, places, [1]) # nothing is shared yet
    share
    update(steering, places, [1])
    assert_equal [0, CLIENTS], counts
  end
end
