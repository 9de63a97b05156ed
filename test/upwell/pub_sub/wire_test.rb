# frozen_string_literal: true

require "test_helper"
require "support/told_redis"
require "support/when_waiting"
require "upwell/pub_sub/redis"

class RedisWireTest < Minitest::Test
  include WhenWaiting

  def setup
    Upwell::PubSub::Redis.load_client
    @redis = ToldRedis.open { sleep }
    @wire = Upwell::PubSub::Redis::Address.new(@redis.url).connect
  end

  def teardown
    @redis.close
  end

  def test_another_thread_closes_it_while_one_reads
    closer = when_waiting { @wire.close("enough") }
    assert_equal "enough", assert_raises(RedisClient::ConnectionError) { @wire.read(0) }.message
  ensure
    closer&.join
  end

  def test_it_was_closed
    @wire.close
    [-> { @wire.read(0) }, -> { @wire.write("PING") }].each do |use|
      assert_equal "closed", assert_raises(RedisClient::ConnectionError, &use).message
    end
    @wire.close
  end

  # By a reset: what the network has not taken must not arrive behind what is sent on another connection.
  def test_what_is_closed_sends_nothing_any_more
    ends = Queue.new
    told = ToldRedis.open { |client| ends << assert_raises(Errno::ECONNRESET) { client.command } }
    Upwell::PubSub::Redis::Address.new(told.url).connect.close
    assert Timeout.timeout(30) { ends.pop }
  ensure
    told&.close
  end
end
