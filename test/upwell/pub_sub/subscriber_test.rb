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
    @answers = Queue.new
    @heard = Queue.new
    @log = $stderr
    $stderr = StringIO.new
  end

  def teardown
    @redis&.close
    @threads&.each { |thread| thread.kill.join }
    $stderr = @log
  end

  # Its connection knows nothing of that, and is silent for longer than a moment.
  def test_one_that_is_doubted_and_dead_is_made_anew
    subscribe do |client|
      @commands << client.command << client.command
      client.answer("+1 1\r\n") if @commands.size == 2
      @commands << client.command
      assert_raises(Errno::ECONNRESET) { client.command }
    end
    assert_equal [%w[SUBSCRIBE a], ["PING", "1 1"]], next_commands(2)
    @subscriber.doubt
    assert_equal %w[PING SUBSCRIBE PING], next_commands(3).map(&:first)
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
    commands += next_commands(1) until commands.last.last.end_with?(" 2")
    assert_equal %w[SUBSCRIBE b], commands.flatten.grep_v(/PING|\d/), "on the same connection"
  end

  # It may have lain there while the receiver took its time.
  def test_an_answer_from_before_the_doubt_does_not_count
    subscribe do |client|
      3.times { @commands << client.command }
      client.answer("+1 1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n")
      client.answer("+#{@answers.pop}\r\n")
      client.command
    end
    next_commands(2)
    @subscriber.doubt
    waiting = Thread.new { @subscriber.await(1) }
    assert_equal "x", Timeout.timeout(AWAIT_MAX) { @heard.pop }
    assert_predicate waiting, :alive?
    @answers << next_commands(1)[0].last
    assert waiting.join(Redis::Subscriber::DOUBT_MAX)
  end

  private

  # @yieldparam client [ToldRedis::Client]
  def subscribe(&serve)
    @redis = ToldRedis.open(&serve)
    address = Redis::Address.new(@redis.url)
    @subscriber = Redis::Subscriber.new(Redis::Link.new(address, Redis::Outages.new(address)), ->(*message) { @heard << message.last }, [])
    @subscriber.change("a", nil, true)
    @threads = %i[run run_teller].map { |work| Thread.new { @subscriber.public_send(work) } }
  end

  def next_commands(count)
    Timeout.timeout(AWAIT_MAX) { Array.new(count) { @commands.pop } }
  end
end
