# frozen_string_literal: true

require "test_helper"
require "upwell/pub_sub/redis"

class RedisPublishHistoryTest < Minitest::Test
  Redis = Upwell::PubSub::Redis

  def setup
    Redis.load_client
    @history = Redis::PublishHistory.new(3, 10)
  end

  # Each is confirmed at the moment of its number.
  def add(*numbers, text: "x")
    numbers.each { |number| @history.add(Redis::PublishQueue::Message.new("a", text, 0, 0, number), number.to_f) }
  end

  def test_what_comes_after_a_number
    add(1, 2, 4)
    assert_equal [[1, 2, 4], [4], []], [0, 2, 4].map { |number| @history.after(number).map(&:number) }
    assert_equal 0, @history.forgotten
  end

  def test_a_bound_of_messages
    add(1, 2, 3, 5, 6)
    assert_equal [2, [3, 5, 6]], [@history.forgotten, @history.after(0).map(&:number)]
  end

  def test_a_bound_of_bytes
    add(1, 2, 3)
    add(4, text: "x" * 7)
    assert_equal [2, [3, 4]], [@history.forgotten, @history.after(0).map(&:number)]
  end

  def test_the_last_number_before_a_moment
    assert_equal 0, @history.before(1)
    add(1, 2, 4)
    assert_equal [0, 0, 1, 2, 4], [0, 1, 1.5, 4, 5].map { |moment| @history.before(moment) }
  end

  # The moments of these are kept for each second.
  def test_the_last_number_before_a_moment_of_forgotten_messages
    add(1, 1.2, 2.1, 3, 4, 5)
    assert_equal [0, 1, 2.1], [1, 2, 2.9].map { |moment| @history.before(moment) }
  end
end
