# frozen_string_literal: true

require "test_helper"
require "support/fake_redis"
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

  # The connection itself never learns of the loss, and Redis stays silent for longer than DOUBT_MAX.
  def test_one_that_is_doubted_and_dead_is_made_anew
    connections = 0
    subscribe do |client|
      first = (connections += 1) == 1
      @commands << client.own_command << (ping = client.own_command)
      client.answer("+#{ping.last}\r\n") if first
      @commands << client.own_command
      assert_raises(Errno::ECONNRESET) { loop { client.command } } # one more PING, if the first answer came after the doubt
    end
    assert_equal [%w[SUBSCRIBE a], ["PING", "1 1"]], next_commands(2)
    @subscriber.doubt
    assert_equal %w[PING SUBSCRIBE PING], next_commands(3).map(&:first)
  end

  def test_one_that_is_doubted_and_lives_goes_on
    subscribe do |client|
      loop do
        @commands << (command = client.own_command)
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
      3.times { @commands << client.own_command }
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

  # Another engine is given time to answer.
  def test_many_changes_do_not_hurry_the_rounds
    heard = Redis::ReceivedNumbers.new("a")
    heard.connect
    heard.position("b", 0)
    subscribe(heard) do |client|
      loop do
        command = client.command
        @commands << command if command.first == "PUBLISH"
        client.answer("+#{command.last}\r\n") if command.first == "PING"
      end
    end
    2.upto(Redis::ReceivedNumbers::ROUNDS_MAX * 2) do |number|
      @subscriber.change("c#{number}", nil, true)
      @subscriber.await(number)
    end
    assert_predicate heard, :asking?
    assert_operator @commands.size, :<, 10
  end

  private

  # @yieldparam client [FakeRedis::Client]
  def subscribe(heard = Redis::ReceivedNumbers.new("a"), &serve)
    @redis = FakeRedis.open(&serve)
    address = Redis::Address.new(@redis.url)
    link = Redis::Reconnection.new(address, Redis::Outages.new(address))
    @subscriber = Redis::Subscriber.new(link, ->(*message) { @heard << message.last }, [], heard, nil)
    @subscriber.change("a", nil, true)
    @threads = %i[run run_teller].map { |work| Thread.new { @subscriber.public_send(work) } }
  end

  def next_commands(count)
    Timeout.timeout(AWAIT_MAX) { Array.new(count) { @commands.pop } }
  end
end
