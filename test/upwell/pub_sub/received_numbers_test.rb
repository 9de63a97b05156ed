# frozen_string_literal: true

require "test_helper"
require "upwell/pub_sub/redis"

class RedisReceivedNumbersTest < Minitest::Test
  Redis = Upwell::PubSub::Redis

  def setup
    Redis.load_client
    @heard = Redis::ReceivedNumbers.new("e")
    @heard.connect
    @heard.position("p", 0)
  end

  # @return [Array<Integer>] the numbers that are taken
  def take(*numbers, request: nil, pattern: nil, publisher: "p")
    numbers.select { |number| @heard.take?(Redis::MessageHead.new(publisher, number, request), pattern) }
  end

  def test_each_number_once
    assert_equal [1, 2, 5, 6], take(1, 2, 1, 2, 5, 4, 5, 6)
  end

  def test_a_publication_is_told_once_for_its_channel_and_once_for_each_pattern
    assert_equal [1], take(1)
    assert_equal [1], take(1, 1, pattern: "a*")
    assert_equal [1], take(1, pattern: "*")
    assert_empty take(1)
    assert_equal [2], take(2, pattern: "a*")
    assert_empty take(1, pattern: "b*")
  end

  def test_nobody_is_asked_on_the_first_connection
    refute_predicate @heard, :asking?
    assert_nil @heard.request
  end

  def test_what_was_missed_comes_first
    take(1, 2)
    @heard.connect
    assert_equal ["e.2", "p=2"], @heard.request[..-2]
    assert_empty take(5, 6)
    @heard.begin_repeat("p", "e.2", 0)
    assert_empty take(6, request: "f.2"), "for another engine"
    assert_equal [3, 4, 5, 6], take(2, 3, 4, 5, 6, request: "e.2")
    @heard.position("p", 9)
    @heard.end_repeat("p", "e.2")
    assert_equal [7], take(5, 6, 7)
    assert_equal 0, @heard.lost
  end

  def test_an_answer_to_a_former_connection_is_none
    take(1)
    2.times { @heard.connect }
    @heard.begin_repeat("p", "e.2", 7)
    assert_empty take(2, request: "e.2")
    @heard.end_repeat("p", "e.2")
    assert_predicate @heard, :asking?
    assert_equal 0, @heard.lost
  end

  def test_what_the_publisher_does_not_keep_is_counted_once
    take(1)
    @heard.connect
    take(9)
    @heard.begin_repeat("p", "e.2", 5)
    @heard.begin_repeat("p", "e.2", 5)
    assert_equal [6], take(5, 6, request: "e.2")
    @heard.begin_repeat("p", "e.2", 8)
    assert_equal [9], take(9, request: "e.2")
    @heard.end_repeat("p", "e.2")
    assert_equal 4 + 2, @heard.lost
    assert_equal [10], take(10)
  end

  def test_it_is_asked_again_in_each_round_without_a_sign
    @heard.connect
    assert_equal ["e.2", "p=0"], @heard.request[..-2]
    assert_nil @heard.request
    @heard.round_passed
    assert @heard.request
    @heard.round_passed
    take(1, request: "e.2")
    assert_nil @heard.request
    @heard.round_passed
    assert_equal ["e.2", "p=1"], @heard.request
  end

  def test_a_publisher_that_does_not_answer
    give_up { assert_empty take(2, 3, 3) }
    assert_equal 3, @heard.lost
    assert_equal [4], take(3, 4)
  end

  def test_a_publisher_that_does_not_answer_and_says_nothing
    give_up
    assert_equal 0, @heard.lost
    @heard.position("p", 4)
    assert_equal [5], take(5)
    assert_equal 4, @heard.lost
  end

  def give_up
    @heard.connect
    @heard.request
    yield if block_given?
    Redis::ReceivedNumbers::ROUNDS_MAX.times { @heard.round_passed }
    assert_nil @heard.request
    refute_predicate @heard, :asking?
  end

  def test_where_nobody_can_be_asked
    @heard.connect
    @heard.ask_nobody
    assert_equal [1], take(1)
    assert_equal 0, @heard.lost
  end

  def test_unknown_publishers_are_asked_for_what_is_younger_than_the_loss
    @heard.connect
    assert_match(/\Ae\.2 p=0 \*<\d+\.\d{3}\z/, @heard.request.join(" "))
    @heard.begin_repeat("q", "e.2", 3, 2)
    assert_equal [4, 5], take(2, 3, 4, 5, request: "e.2", publisher: "q")
    @heard.end_repeat("q", "e.2")
    assert_equal [6], take(5, 6, publisher: "q")
    assert_equal 1, @heard.lost
  end

  # The older engine repeats by number, and does not say where it begins.
  def test_an_unknown_publisher_that_is_heard_is_asked_by_its_name
    @heard.connect
    @heard.request
    assert_empty take(7, publisher: "q")
    assert_predicate @heard, :met_unknown?
    refute_predicate @heard, :met_unknown?
    assert_match(/\Ae\.2 q=6 q<\d+\.\d{3}\z/, @heard.request.join(" "))
    @heard.begin_repeat("q", "e.2", 0)
    assert_equal [7, 8], take(7, 8, request: "e.2", publisher: "q")
  end

  def test_an_unknown_publisher_is_heard_at_once_from_its_first_message_on
    @heard.connect
    @heard.position("q", 0)
    assert_equal [1, 2], take(1, 2, publisher: "q")
    assert_equal [1, 2], take(1, 2, publisher: "r")
    refute_predicate @heard, :met_unknown?
  end

  # It was heard, and would repeat what was heard.
  def test_a_publisher_that_was_forgotten_is_no_unknown_one
    (Redis::ReceivedNumbers::PUBLISHERS_MAX + 1).times { |number| @heard.position("q#{number}", 1) }
    @heard.connect
    refute(@heard.request.any? { |field| field.start_with?("*") })
    assert_equal [7], take(7, publisher: "r")
  end

  # A connection that was short does not show that each publisher has heard the request.
  def test_only_a_connection_that_lasts_proves_that_all_was_heard
    now = Upwell::Clock.now
    @heard.proven(now + 1)
    @heard.connect
    assert_operator asked_seconds, :>=, Redis::ReceivedNumbers::DELAY_MAX
    @heard.proven(now + 1000)
    @heard.connect
    assert_operator asked_seconds, :<, Redis::ReceivedNumbers::SETTLED - 900
  end

  # @return [Float]
  def asked_seconds
    @heard.request.last.delete_prefix("*<").to_f
  end

  def test_publishers_are_forgotten
    Redis::ReceivedNumbers::PUBLISHERS_MAX.times { |number| @heard.position("q#{number}", 1) }
    @heard.connect
    assert_equal Redis::ReceivedNumbers::PUBLISHERS_MAX, @heard.request.drop(1).size
  end
end
