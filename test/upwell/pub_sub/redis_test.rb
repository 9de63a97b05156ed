# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "support/redis_process"
require "support/told_redis"

class RedisTest < Minitest::Test
  Redis = Upwell::PubSub::Redis
  LIB = File.expand_path("../../../lib", __dir__)
  AWAIT_MAX = 30 # seconds, of which none are needed

  def setup
    skip "there is no redis-server" unless RedisProcess.there?

    @log = $stderr
    $stderr = StringIO.new
    @heard = Queue.new
    @engines = []
  end

  def teardown
    @engines&.each { |engine| engine.close(0) }
    $stderr = @log if @log
  end

  def engine(url, **options)
    Redis.new(url, receiver: Redis::Once.new(->(*message) { @heard << message }), **options).tap { |engine| @engines << engine }
  end

  # @return [Array<String>] the messages that come
  def heard(count)
    Timeout.timeout(AWAIT_MAX) { Array.new(count) { @heard.pop.last } }
  end

  def await(&condition)
    Timeout.timeout(AWAIT_MAX) { sleep 0.005 until condition.call }
  end

  def told(pattern)
    $stderr.string.lines.grep(pattern)
  end

  def test_who_publishes_hears_it_once
    RedisProcess.open do |redis|
      engine = engine(redis.url)
      [["a", nil], ["a*", :redis], ["*", :redis]].each { |name, match| assert engine.subscribe(name, match) }
      %w[1 1 2].each { |text| assert engine.publish("a", text) }
      assert engine.publish("b", "3")
      assert_equal %w[1 1 2 3], heard(4)
      assert engine.unsubscribe("*", :redis)
      assert engine.unsubscribe("a*", :redis)
      engine.publish("b", "4")
      engine.publish("a", "5")
      assert_equal %w[5], heard(1)
    end
  end

  def test_bytes_stay_as_they_are
    RedisProcess.open do |redis|
      engine = engine(redis.url)
      texts = ["", "\0\r\n$1\r\n", "\xff\xfe".b, "é", "é".encode("ISO-8859-1"), "x" * 100_000]
      engine.subscribe("é\0\r\n")
      texts.each { |text| engine.publish("é\0\r\n", text) }
      all = Timeout.timeout(AWAIT_MAX) { Array.new(texts.size) { @heard.pop } }
      assert_equal texts.map(&:b), all.map { |_, text| text.b }
      assert_equal [Encoding::UTF_8, Encoding::BINARY], [all[3].last, all[2].last].map(&:encoding)
      assert_equal ["é\0\r\n"], all.map(&:first).uniq
    end
  end

  def test_other_ways_to_match_are_not_redis_own
    refute engine("unix:///nowhere").subscribe("a", :nats)
  end

  # A UNIX socket tells at once that nobody is there, TCP only when it was written to.
  def test_a_redis_that_is_killed
    RedisProcess.open { |redis| check_outage(redis, redis.url) }
  end

  def test_a_redis_that_is_killed_behind_tcp
    RedisProcess.open(tls: true) { |redis| check_outage(redis, redis.encrypted_url) }
  end

  def check_outage(redis, url)
    engine = engine(url)
    engine.subscribe("a")
    count = 0
    publish = ->(*) { assert engine.publish("a", (count += 1).to_s) }
    20.times { publish.call && sleep(0.001) }
    heard(1)
    redis.kill
    await { told(/is lost/).any? }
    20.times(&publish)
    redis.start
    await { told(/is back/).any? }
    20.times(&publish)
    await { engine.stats[:waiting].zero? }
    assert_equal 60, engine.stats.values_at(:sent, :uncertain).sum

    numbers = [1]
    numbers << heard(1).first.to_i until numbers.last == 60
    assert_equal numbers.sort.uniq, numbers
    assert_equal (21..60).to_a, numbers.last(40), "what was published meanwhile was kept"
    assert_equal [1, 1, 1], [told(/is lost/).size, told(/is back/).size, engine.stats[:lost]], $stderr.string
  end

  def test_what_nobody_knows_the_fate_of_is_not_sent_again
    clients = [lambda(&:command), ->(client) { loop { (@heard << client.command) && client.answer(":1\r\n") } }]
    got = Queue.new
    redis = ToldRedis.open { |client| clients.shift.call(client).tap { |command| got << command } }
    engine = engine(redis.url)
    engine.publish("a", "1")
    assert_equal %w[PUBLISH a 1], Timeout.timeout(AWAIT_MAX) { got.pop }
    engine.publish("a", "2")
    assert_equal "2", heard(1).first
    await { engine.stats[:sent] == 1 }
    assert_equal({ waiting: 0, refused: 0, lost: 1, sent: 1, uncertain: 1, failed: 0 }, engine.stats)
  ensure
    redis&.close
  end

  def test_a_message_that_redis_does_not_bear_is_left_out
    RedisProcess.open("--proto-max-bulk-len", "1mb") do |redis|
      engine = engine(redis.url)
      engine.publish("a", "x" * 8_000_000)
      engine.publish("a", "1")
      await { engine.stats[:waiting].zero? }
      assert_equal [1, 1, 0], engine.stats.values_at(:failed, :sent, :uncertain)
    end
  end

  def test_an_idle_connection_is_tried_before_it_is_trusted
    commands = Queue.new
    redis = ToldRedis.open do |client|
      loop do
        commands << client.command
        client.answer(commands.size == 1 ? ":1\r\n" : "+PONG\r\n")
      end
    end
    engine = engine(redis.url)
    engine.publish("a", "1")
    await { engine.stats[:sent] == 1 }
    sleep Redis::Publisher::IDLE + 0.1
    engine.publish("a", "2")
    await { engine.stats[:sent] == 2 }
    assert_equal [%w[PUBLISH a 1], %w[PING], %w[PUBLISH a 2]], Array.new(commands.size) { commands.pop }.last(3)
  ensure
    redis&.close
  end

  def test_a_stopped_redis_stops_nobody
    RedisProcess.open do |redis|
      engine = engine(redis.url, messages_max: 100)
      engine.subscribe("a")
      engine.publish("a", "0")
      heard(1)
      await { engine.stats[:waiting].zero? }
      redis.signal("STOP")
      taken = Array.new(150) { |i| engine.publish("a", (i + 1).to_s) }
      redis.signal("CONT")
      assert_equal ([true] * 100) + ([false] * 50), taken
      assert_equal (1..100).map(&:to_s), heard(100)
      assert_equal 50, engine.stats[:refused]
    end
  end

  # What comes next must not be taken for the rest of its message, nor that for commands; and the end sends what waits.
  def test_a_publisher_that_is_killed_amid_a_message
    RedisProcess.open do |redis|
      engine(redis.url).tap { |other| other.subscribe("a") && other.publish("a", "here") }
      heard(1) # Redis knows of it
      engine = engine(redis.url).tap { |one| one.publish("a", "here, too") }
      heard(1)
      redis.signal("STOP")
      long = "\r\nPUBLISH a smuggled\r\n" * 100_000
      2.times { engine.publish("a", long) }
      kill_amid_a_write
      redis.signal("CONT")
      engine.close(AWAIT_MAX)
      assert_equal({ waiting: 0, sent: 3, uncertain: 0 }, engine.stats.slice(:waiting, :sent, :uncertain))
      assert_equal [long, long], heard(2)
    end
  end

  def kill_amid_a_write
    publisher = Thread.list.select { |thread| thread.name == "upwell redis publisher" }.last
    await { publisher.backtrace.any?(/wait_writable/) }
    publisher.kill
  end

  def test_a_bound_of_bytes
    engine = engine("unix:///nowhere", bytes_max: 10)
    assert_equal [true, false, true, false], ["1234", "12345", "1234", ""].map { |text| engine.publish("a", text) }
    assert_equal({ waiting: 2, refused: 2 }, engine.stats.slice(:waiting, :refused))
  end

  def test_a_process_that_takes_nothing_for_a_while_loses_nothing
    RedisProcess.open do |redis|
      taken = [false, true, false, false, true, true]
      with_delivery(->(*message) { (@heard << message) && taken.shift }) do
        engine = engine_of_a_server(redis)
        %w[1 2 3].each { |text| engine.publish("a", text) }
        assert_equal %w[1 1 2 2 2 3], heard(6)
      end
    end
  end

  def test_the_end_does_not_wait_for_a_process_that_takes_nothing
    RedisProcess.open do |redis|
      with_delivery(->(*message) { (@heard << message) && false }) do
        engine = engine_of_a_server(redis)
        engine.publish("a", "1")
        heard(2)
        engine.close
        refute(Thread.list.any? { |thread| thread.name&.start_with?("upwell redis") })
      end
    end
  end

  def engine_of_a_server(redis)
    Redis.new(redis.url).tap { |engine| (@engines << engine) && engine.subscribe("a") }
  end

  def with_delivery(delivery)
    Upwell::PubSub.delivery = delivery
    yield
  ensure
    Upwell::PubSub.delivery = nil
  end

  def test_what_waits_is_sent_at_the_end
    RedisProcess.open do |redis|
      engine(redis.url).tap { |other| other.subscribe("a") && other.publish("a", "here") }
      heard(1)
      engine = engine(redis.url)
      500.times { |i| engine.publish("a", i.to_s) }
      engine.close(AWAIT_MAX)
      assert_equal (0...500).map(&:to_s), heard(500)
      refute engine.publish("a", "late")
    end
  end

  def test_what_waits_is_sent_at_the_end_of_a_process
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    RedisProcess.open do |redis|
      engine(redis.url).tap { |other| other.subscribe("a") && other.publish("a", "here") }
      heard(1)
      assert system(RbConfig.ruby, "-I#{LIB}", "-e", <<~RUBY, redis.url)
        require "upwell"
        engine = Upwell::PubSub::Redis.new(ARGV.first)
        at_exit { engine.publish("a", "last") }
        fork { engine.publish("a", "child") }
        Process.wait
        engine.publish("a", "parent")
      RUBY
      assert_equal %w[child last parent last], heard(4)
    end
  end

  def test_what_cannot_be_sent_at_the_end_is_counted
    engine = engine("unix:///nowhere")
    3.times { engine.publish("a", "1") }
    await { told(/is lost/).any? }
    engine.close(0.2)
    assert_equal [0, 3], engine.stats.values_at(:waiting, :refused)
    assert_equal 1, told(/ 3 messages are lost/).size
    assert_equal 1, told(/Redis is lost \(unix:..\/nowhere\): No such file/).size
  end

  def test_a_password
    RedisProcess.open("--requirepass", "secret") do |redis|
      wrong = engine(redis.url.sub("unix://", "unix://:guessed@"))
      assert wrong.publish("a", "1")
      await { told(/WRONGPASS/).any? }
      right = engine(redis.url.sub("unix://", "unix://:secret@"))
      right.subscribe("a")
      right.publish("a", "2")
      assert_equal ["2"], heard(1)
      assert_equal 1, told(/is lost/).size
      assert_empty told(/guessed|secret/)
    end
  end

  def test_what_redis_does_not_allow
    RedisProcess.open("--user", *%w[default on nopass +@all -publish resetchannels &a]) do |redis|
      engine = engine(redis.url)
      2.times { engine.publish("a", "1") }
      await { engine.stats[:failed] == 2 }
      engine.subscribe("b")
      await { told(/does not subscribe: NOPERM/).any? }
      assert_equal 1, told(/does not publish: NOPERM/).size
    end
  end

  def test_encrypted
    RedisProcess.open(tls: true) do |redis|
      engine = engine(redis.encrypted_url)
      engine.subscribe("a")
      engine.publish("a", "1")
      assert_equal ["1"], heard(1)
      stranger = engine(redis.encrypted_url(Certificates.stranger))
      stranger.publish("a", "2")
      await { told(/certificate verify failed/).any? }
      500.times { |i| engine.publish("a", i.to_s * 50) }
      200.times { |i| engine.subscribe("a#{i}") } # one thread writes while the other one reads
      assert_equal (0...500).map { |i| i.to_s * 50 }, heard(500)
    end
  end

  def test_many_subscriptions
    RedisProcess.open do |redis|
      engine = engine(redis.url)
      names = Array.new(1_201) { |i| "a#{i}" }
      names.each { |name| engine.subscribe(name) }
      names.each { |name| engine.publish(name, name) }
      assert_equal names, heard(names.size)
      redis.kill
      await { told(/is lost/).any? }
      redis.start
      names.each { |name| engine.publish(name, name) }
      assert_equal names, heard(names.size)
    end
  end

  def test_a_child_process_has_connections_of_its_own
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    RedisProcess.open do |redis|
      engine = engine(redis.url)
      engine.subscribe("a")
      engine.publish("a", "before")
      heard(1)
      redis.signal("STOP")
      engine.publish("a", "parent")
      pid = fork { in_child(engine) }
      redis.signal("CONT")
      assert_predicate Process.wait2(pid).last, :success?
      assert_equal %w[child parent], heard(2).sort
      engine.publish("a", "after")
      assert_equal ["after"], heard(1)
    end
  end

  # It hears itself, too, once it subscribes to something: what its parent subscribed to is subscribed to here.
  def in_child(engine)
    @heard.clear
    engine.subscribe("b")
    engine.publish("a", "child")
    engine.publish("b", "own")
    texts = []
    texts.concat(heard(1)) until texts.last == "own"
    engine.close(AWAIT_MAX)
    exit!((texts - ["parent"]) == %w[child own] && engine.stats[:sent] == 2 ? 0 : 1)
  ensure
    exit!(2)
  end

  def test_what_is_no_url_of_a_redis
    ["http://localhost", "redis://a b", "localhost:6379", "", nil].each do |url|
      error = assert_raises(ArgumentError, url.inspect) { Redis.new(url) }
      assert_match(%r{must be redis://HOST}, error.message)
    end
  end

  def test_without_the_gem
    program = ["-e", "require 'upwell'; Upwell::PubSub::Redis.new('redis://localhost')"]
    _, error, status = Open3.capture3({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "--disable-gems", "-I", LIB, *program)
    refute_predicate status, :success?
    assert_match(/needs the gem redis-client: add it to the Gemfile/, error)
  end
end
