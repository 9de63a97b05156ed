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
end
