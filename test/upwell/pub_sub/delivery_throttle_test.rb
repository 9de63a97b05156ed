# frozen_string_literal: true

require "test_helper"
require "upwell/pub_sub/redis"

class RedisDeliveryThrottleTest < Minitest::Test
  PubSub = Upwell::PubSub
  DeliveryThrottle = PubSub::Redis::DeliveryThrottle

  def teardown
    PubSub::CLUSTER.counts = nil
  end

  # @param behind [Array<Integer>] what is found, one after another
  # @return [Integer] how often it was looked
  def looks(behind, messages, pace = DeliveryThrottle.new)
    looks = 0
    PubSub::CLUSTER.counts = -> { { behind: behind[looks].to_i }.tap { looks += 1 } }
    messages.times { pace.keep }
    looks
  end

  def test_it_looks_now_and_then
    assert_equal 2, looks([], 2 * DeliveryThrottle::EVERY)
  end

  def test_it_waits_while_a_block_is_behind
    assert_equal 3, looks([1, 1, 0], DeliveryThrottle::EVERY)
  end

  def test_it_does_not_wait_for_ever
    pace = DeliveryThrottle.new
    pace.instance_variable_set(:@left, 3 * DeliveryThrottle::PAUSE)
    assert_operator looks([1] * 100, DeliveryThrottle::EVERY, pace), :<=, 5
    assert_operator looks([1] * 100, DeliveryThrottle::EVERY, pace), :<=, 2
  end

  def test_where_nobody_serves
    PubSub::CLUSTER.counts = nil
    pace = DeliveryThrottle.new
    assert_nil Array.new(DeliveryThrottle::EVERY) { pace.keep }.last
  end
end
