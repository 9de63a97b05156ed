# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require_relative "../../bench/lib/concurrent_clients"

class ConcurrentClientsTest < Minitest::Test
  def test_visits_wait_side_by_side
    inside = most = 0
    crowd = Bench::ConcurrentClients.new(7) do |each|
      most = [most, inside += 1].max
      each.rest(0.01)
      inside -= 1
    end
    crowd.run_for(0.2)
    crowd.finish

    assert_equal [7, 0], [most, inside]
    assert_operator crowd.visits, :>, 7
    assert_empty crowd.failures
  end

  def test_a_shorter_rest_ends_first
    order = []
    rests = [0.06, 0.03, 0.01]
    crowd = Bench::ConcurrentClients.new(3) do |each|
      rest = rests.shift and each.rest(rest)
      order << rest if rest
      each.rest(0.01)
    end
    crowd.run_for(0.1)
    crowd.finish

    assert_equal [0.01, 0.03, 0.06], order
  end

  def test_a_visit_waits_for_its_own_socket
    with_echo do |port|
      answers = Hash.new(0)
      crowd = Bench::ConcurrentClients.new(5) do |each|
        client = each.client(port)
        client.write("ping")
        answers[client.read] += 1
        client.close
      end
      crowd.run_for(0.2)
      crowd.finish

      assert_equal({ 4 => crowd.visits }, answers)
    end
  end

  def test_failures_are_counted_and_the_others_go_on
    turn = 0
    crowd = Bench::ConcurrentClients.new(2) do |each|
      each.rest(0.01)
      raise Bench::Client::Error, "no answer" if (turn += 1) <= 3
    end
    crowd.run_for(0.2)
    crowd.finish

    assert_equal({ "no answer" => 3 }, crowd.failures)
    assert_operator crowd.visits, :>, 5
  end

  private

  def with_echo
    listener = TCPServer.new("127.0.0.1", 0)
    echo = Thread.new do
      loop { listener.accept.then { |socket| socket.write(socket.readpartial(100)) && socket.close } }
    end
    Timeout.timeout(60) { yield listener.addr[1] }
  ensure
    echo.kill
    listener.close
  end
end
