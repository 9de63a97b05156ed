# frozen_string_literal: true

require "test_helper"
require "support/redis_process"
require "support/fake_redis"
require "support/action_while_thread_waits"
require "upwell/pub_sub/redis"

class RedisConnectionTest < Minitest::Test
  include ActionWhileThreadWaits

  def setup
    Upwell::PubSub::Redis.load_client
    @redis = FakeRedis.open { sleep }
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
    told = FakeRedis.open { |client| ends << assert_raises(Errno::ECONNRESET) { client.command } }
    Upwell::PubSub::Redis::Address.new(told.url).connect.close
    assert Timeout.timeout(30) { ends.pop }
  ensure
    told&.close
  end

  def test_what_is_closed_is_gone_though_a_child_lives_that_was_forked_meanwhile
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    ends = Queue.new
    told = FakeRedis.open { |client| ends << assert_raises(Errno::ECONNRESET) { client.command } }
    wire = Upwell::PubSub::Redis::Address.new(told.url).connect
    child = fork { sleep }
    wire.close
    assert Timeout.timeout(30) { ends.pop }
  ensure
    end_child(child)
    told&.close
  end

  def test_a_redis_sees_the_end_of_a_parent_whose_child_lives
    skip "there is no redis-server" unless RedisProcess.there? && Process.respond_to?(:fork)

    RedisProcess.open do |redis|
      wire = Upwell::PubSub::Redis::Address.new(redis.url).connect
      reader = when_reading(wire)
      child = fork { sleep }
      wire.close
      reader.join
      Timeout.timeout(30) { sleep 0.01 until redis.ask("CLIENT", "LIST").grep(/\bid=/).size == 1 } # the one that asks
    ensure
      end_child(child)
    end
  end

  private

  def when_reading(wire)
    reader = Thread.new { assert_raises(RedisClient::ConnectionError) { wire.read(0) } }
    Thread.pass until reader.status == "sleep"
    reader
  end

  def end_child(child)
    child && Process.kill("KILL", child) && Process.wait(child)
  end
end
