# frozen_string_literal: true

require "test_helper"
require "support/told_redis"
require "upwell/pub_sub/redis"

class RedisSubscriberTest < Minitest::Test
  Redis = Upwell::PubSub::Redis
  AWAIT_MAX = Redis::Subscriber::PATIENCE # seconds: before a message would go on without its publisher's subscriptions

  def setup
    Redis.load_client
    @commands = Queue.new
    @log = $stderr
    $stderr = StringIO.new
  end

  def teardown
    @threads&.each { |thread| thread.kill.join }
    @redis&.close
    $stderr = @log
  end

  # Its connection knows nothing of that, and is silent for longer than a moment.
  def test_one_that_is_doubted_and_dead_is_made_anew
    subscribe do |client|
      @commands << client.command << client.command
      client.answer("+1\r\n") if @commands.size == 2
      @commands << client.command
      assert_raises(Errno::ECONNRESET) { client.command }
    end
    assert_equal [%w[SUBSCRIBE a], %w[PING 1]], next_commands(2)
    @subscriber.doubt
    assert_equal [%w[PING 1], %w[SUBSCRIBE a], %w[PING 1]], next_commands(3)
  end

  def test_one_that_is_doubted_and_lives_goes_on
    subscribe do |client|
      loop do
        @commands << (command = client.command)
        client.answer("+#{command.last}\r\n") if command.first == "PING"
      end
    end
    next_commands(2)
    @subscriber.doubt
    Timeout.timeout(AWAIT_MAX) { @subscriber.await(1) }
    sleep Redis::Subscriber::DOUBT_MAX + 0.1
    @subscriber.change("b", nil, true)
    commands = next_commands(1)
    commands += next_commands(1) until commands.last == %w[PING 2]
    assert_equal [%w[PING 1], %w[SUBSCRIBE b], %w[PING 2]], commands.uniq, "on the same connection"
  end

  private

  # @yieldparam client [ToldRedis::Client]
  def subscribe(&serve)
    @redis = ToldRedis.open(&serve)
    address = Redis::Address.new(@redis.url)
    @subscriber = Redis::Subscriber.new(Redis::Link.new(address, Redis::Outages.new(address)), ->(*) {}, [])
    @subscriber.change("a", nil, true)
    @threads = %i[run run_teller].map { |work| Thread.new { @subscriber.public_send(work) } }
  end

  def next_commands(count)
    Timeout.timeout(AWAIT_MAX) { Array.new(count) { @commands.pop } }
  end
end
