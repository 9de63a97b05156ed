# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "support/pub_sub_fault_injection"
require "support/redis_proxy"
require "support/redis_process"
require "support/fake_redis"

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
    Redis.new(url, receiver: Redis::Deduplication.new(->(*message) { @heard << message }), **options).tap { |engine| @engines << engine }
  end

  # @return [Array<String>] the messages that come
  def heard(count)
    Timeout.timeout(AWAIT_MAX) { Array.new(count) { @heard.pop.last } }
  end

  def await(&condition)
    Timeout.timeout(AWAIT_MAX) { sleep 0.005 until condition.call }
  end

  def await_subscriber(redis)
    await { redis.ask("PUBSUB", "NUMSUB", "a").include?(":1") }
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
    await { told(/lost the connection to Redis/).any? }
    20.times(&publish)
    redis.start
    await { told(/connected to Redis again/).any? }
    20.times(&publish)
    await { engine.stats[:waiting].zero? }
    assert_equal 60, engine.stats.values_at(:sent, :uncertain).sum

    numbers = [1]
    numbers << heard(1).first.to_i until numbers.last == 60
    assert_equal numbers.sort.uniq, numbers
    assert_equal (21..60).to_a, numbers.last(40), "what was published meanwhile was kept"
    outages = [told(/lost the connection to Redis/).size, told(/connected to Redis again/).size, engine.stats[:outages]]
    assert_equal [1, 1, 1], outages, $stderr.string
  end

  # It may have been published or not.
  def test_what_redis_has_not_confirmed_is_sent_again_with_its_number
    got = Queue.new
    redis = FakeRedis.open do |client|
      loop { (got << client.own_command.last) && (got.size == 1 ? break : client.answer(":1\r\n")) }
    end
    engine = engine(redis.url)
    %w[1 2].each { |text| engine.publish("a", text) }
    await { engine.stats[:sent] == 2 }
    assert_equal [["1", 1], ["1", 1], ["2", 2]], published(got).values_at(0, -2, -1)
    assert_equal({ waiting: 0, refused: 0, uncertain: 0, lost: 0, outages: 1, sent: 2, failed: 0 }, engine.stats)
  ensure
    redis&.close
  end

  # @return [Array<Array(String, Integer)>] messages and their numbers, with what is confirmed again left out
  def published(commands)
    heads = Array.new(commands.size) { Redis::MessageHead.split(commands.pop) }
    heads.filter_map { |head, text| [text, head.number] if head }
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
    redis = FakeRedis.open do |client|
      loop do
        commands << (command = client.command).first
        client.answer(command == ["PING"] ? "+PONG\r\n" : ":1\r\n") unless command.first == "SUBSCRIBE"
        sleep if command.first == "SUBSCRIBE"
      end
    end
    engine = engine(redis.url)
    engine.publish("a", "1")
    await { engine.stats[:sent] == 1 }
    sleep Redis::Publisher::IDLE + 0.1
    engine.publish("a", "2")
    await { engine.stats[:sent] == 2 }
    assert_includes Array.new(commands.size) { commands.pop }.each_cons(2).to_a, %w[PING PUBLISH]
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
      await_idle_publisher(engine)
      long = "\r\nPUBLISH a smuggled\r\n" * 100_000
      rounds = 1
      rounds += 1 until kill_amid_a_write(engine, redis, long)
      engine.close(AWAIT_MAX)
      assert_equal({ waiting: 0, sent: 1 + (2 * rounds), uncertain: 0 }, engine.stats.slice(:waiting, :sent, :uncertain))
      assert_equal [long] * 2 * rounds, heard(2 * rounds)
    end
  end

  # It has told its position, also when its process heard the other engines for the first time.
  def await_idle_publisher(engine)
    events = engine.instance_variable_get(:@session).instance_variable_get(:@subscriber).instance_variable_get(:@events)
    await { events.repeated? }
    await { last_publisher.backtrace.any?(/publish_queue/) }
  end

  def last_publisher
    Thread.list.select { |thread| thread.name == "upwell redis publisher" }.last
  end

  # Returns false when the publisher sends a PING first: after a second without a message it does.
  def kill_amid_a_write(engine, redis, long)
    publisher = last_publisher
    redis.signal("STOP")
    2.times { engine.publish("a", long) }
    await { publisher.backtrace.any?(/wait_writable|try_out/) }
    writes = publisher.backtrace.any?(/wait_writable/)
    publisher.kill if writes
    redis.signal("CONT")
    await { engine.stats[:waiting].zero? } unless writes
    writes
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
    await { told(/lost the connection to Redis/).any? }
    engine.close(0.2)
    assert_equal [0, 3], engine.stats.values_at(:waiting, :refused)
    assert_equal 1, told(/ 3 messages were dropped/).size
    assert_equal 1, told(/lost the connection to Redis \(unix:..\/nowhere\): No such file/).size
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
      assert_equal 1, told(/lost the connection to Redis/).size
      assert_empty told(/guessed|secret/)
      refute_match(/secret/, right.inspect)
    end
  end

  def test_a_password_that_redis_repeats
    redis = FakeRedis.open("-ERR unknown option 'sesame'\r\n") { nil }
    engine = engine(redis.url.sub("//", "//me:sesame@"))
    engine.publish("a", "1")
    await { told(/lost the connection to Redis .*unknown option/).any? }
    assert_empty told(/sesame/)
    refute_match(/sesame/, engine.inspect)
  ensure
    redis&.close
  end

  def test_a_password_that_is_empty_hides_nothing
    Upwell::PubSub::Redis.load_client
    assert_equal "ERR unknown", Upwell::PubSub::Redis::Address.new("redis://:@localhost").hide("ERR unknown")
  end

  def test_what_redis_does_not_allow
    RedisProcess.open("--user", *%w[default on nopass +@all -publish resetchannels &a]) do |redis|
      engine = engine(redis.url)
      2.times { engine.publish("a", "1") }
      await { engine.stats[:failed] == 2 }
      engine.subscribe("b")
      await { told(/rejects a subscription: NOPERM/).any? }
      assert_equal 1, told(/rejects a message, which is lost: NOPERM/).size
    end
  end

  # A script keeps it from anything else.
  def test_a_busy_redis_gets_it_later
    RedisProcess.open("--lua-time-limit", "1") do |redis|
      engine = engine(redis.url)
      engine.subscribe("a")
      publish_one_by_one(engine, ["1"])
      keep_busy(redis) do
        engine.subscribe("b")
        2.times { |number| engine.publish("b", number.to_s) }
        await { told(/lost the connection to Redis .*BUSY/).any? }
      end
      assert_equal %w[1 0 1], heard(3)
      assert_equal [3, 0, 0], engine.stats.values_at(:sent, :failed, :lost)
      assert_empty told(/does not/)
    end
  end

  def keep_busy(redis)
    script = Thread.new { redis.ask("EVAL", "while true do end", "0") }
    await { redis.ask("PING").first.start_with?("-BUSY") }
    yield
    redis.ask("SCRIPT", "KILL")
    script.join(AWAIT_MAX)
  end

  # Any program that speaks for Redis may say so.
  def test_a_redis_that_is_not_ready_gets_it_later
    answers = [*%w[LOADING MASTERDOWN OOM READONLY BUSY TRYAGAIN].map { |code| "-#{code} not now\r\n" }, ":1\r\n"]
    assert_operator answers.size, :>, Redis::Publisher::ATTEMPTS_MAX
    redis = FakeRedis.open { |client| loop { client.own_command.first == "PUBLISH" && client.answer(answers.shift) } }
    engine = engine(redis.url)
    engine.publish("a", "1")
    await { engine.stats[:waiting].zero? }
    assert_equal [1, 0], engine.stats.values_at(:sent, :failed)
  ensure
    redis&.close
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

  # Its connection alone is lost, while others publish.
  def test_a_subscriber_that_was_away_gets_what_it_has_missed
    RedisProcess.open do |redis|
      far = engine(redis.url)
      engine(redis.url).subscribe("a")
      await_subscriber(redis)
      far.publish("a", "0")
      heard(1)
      numbers = (1..600).map(&:to_s)
      numbers.each_slice(200) do |slice|
        slice.each { |number| far.publish("a", number) }
        redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      end
      assert_equal numbers, heard(numbers.size)
      assert_equal [0, 0], @engines.map { |engine| engine.stats[:lost] }
    end
  end

  # It hears nothing of this publisher before.
  def test_a_publisher_that_begins_while_a_subscriber_is_away
    with_gate do |redis, gate|
      engine(gate.url).subscribe("a")
      await_subscriber(redis)
      gate.shut
      await { told(/lost the connection to Redis/).any? }
      far = engine(redis.url)
      publish_one_by_one(far, %w[1 2])
      gate.open
      assert_equal %w[1 2], heard(2)
      far.publish("a", "3")
      assert_equal %w[3], heard(1)
      assert_equal [0, 0], @engines.map { |engine| engine.stats[:lost] }
    end
  end

  def test_a_subscriber_that_begins_while_redis_is_away
    with_gate do |redis, gate|
      gate.shut
      engine(gate.url).subscribe("a")
      await { told(/lost the connection to Redis/).any? }
      publish_one_by_one(engine(redis.url), %w[1 2])
      gate.open
      assert_equal %w[1 2], heard(2)
    end
  end

  # It does not hear the subscriber's request.
  def test_a_publisher_that_begins_and_hears_nothing_while_a_subscriber_is_away
    with_gate do |redis, gate|
      engine(gate.url).subscribe("a")
      await_subscriber(redis)
      gate.shut
      await { told(/lost the connection to Redis/).any? }
      RedisProxy.open(redis) do |other|
        other.open(refused: "SUBSCRIBE")
        far = engine(other.url)
        publish_one_by_one(far, %w[1 2])
        gate.open
        await_subscriber(redis)
        sleep Redis::ReceivedNumbers::RETRY # until the request was sent
        other.open
        assert_equal %w[1 2], heard(2)
      end
    end
  end

  def test_what_a_publisher_that_begins_meanwhile_does_not_keep_is_counted
    with_gate do |redis, gate|
      (near = engine(gate.url)).subscribe("a")
      await_subscriber(redis)
      gate.shut
      await { told(/lost the connection to Redis/).any? }
      publish_one_by_one(engine(redis.url, messages_max: 5), (1..12).map(&:to_s))
      gate.open
      assert_equal (8..12).map(&:to_s), heard(5)
      assert_equal 7, near.stats[:lost]
    end
  end

  # In short what rake test:redis_outages does at length.
  def test_outages_at_random
    assert_empty PubSubFaultInjection.run(seed: 19, outages: 3)
  end

  def with_gate
    RedisProcess.open { |redis| RedisProxy.open(redis) { |gate| yield redis, gate } }
  end

  # It takes its time for one, and meanwhile its connection is lost.
  def test_what_a_subscriber_has_missed_and_nobody_keeps_is_counted
    RedisProcess.open do |redis|
      held = Queue.new
      receiver = ->(*message) { (@heard << message) && message.last == "hold" && held.pop }
      @engines << (near = Redis.new(redis.url, receiver: receiver))
      near.subscribe("a")
      far = engine(redis.url, messages_max: 5)
      await_subscriber(redis)
      publish_one_by_one(far, ["hold"])
      heard(1)
      redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      publish_one_by_one(far, (1..40).map(&:to_s))
      held << true
      publish_one_by_one(far, ["last"])
      rest = []
      rest.concat(heard(1)) until rest.last == "last"
      assert_equal 41, rest.size + near.stats[:lost]
      assert_equal (1..40).map(&:to_s).last(rest.size - 1), rest[..-2]
      assert_operator near.stats[:lost], :>, 20
    end
  end

  def publish_one_by_one(engine, texts)
    texts.each { |text| engine.publish("a", text) && await { engine.stats[:waiting].zero? } }
  end

  def test_what_was_published_before_a_subscription_is_not_repeated
    RedisProcess.open do |redis|
      far = engine(redis.url)
      near = engine(redis.url)
      near.subscribe("b")
      publish_one_by_one(far, %w[1 2])
      sleep Redis::Publisher::POSITION_PAUSE + 0.1 # until the position was told
      near.subscribe("a")
      await_subscriber(redis)
      redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      await { told(/connected to Redis again/).any? }
      await_subscriber(redis)
      sleep Redis::ReceivedNumbers::RETRY + 0.1
      publish_one_by_one(far, ["3"])
      assert_equal ["3"], heard(1)
    end
  end

  # Other programs publish to the same channels, without numbers.
  def test_what_other_programs_publish
    RedisProcess.open do |redis|
      engine(redis.url).subscribe("a")
      await_subscriber(redis)
      texts = ["plain", "plain", "\x01upwell:no head\x02"]
      texts.each { |text| redis.ask("PUBLISH", "a", text) }
      assert_equal texts, heard(3)
    end
  end

  # On the channel of the engines, too.
  def test_what_other_programs_tell_engines
    RedisProcess.open do |redis|
      far = engine(redis.url)
      engine(redis.url).subscribe("a")
      await_subscriber(redis)
      publish_one_by_one(far, ["1"])
      name = far.instance_variable_get(:@session).instance_variable_get(:@publisher).instance_variable_get(:@name)
      ["", "begin", "end", "position", "repeat", "repeat x #{name}=0", "repeat \xff #{name}=0", "repeat #{"a" * 99} #{name}=0"].each do |text|
        redis.ask("PUBLISH", "upwell:engines", text)
      end
      publish_one_by_one(far, ["2"])
      assert_equal %w[1 2], heard(2)
      assert_empty told(/Error/)
    end
  end

  # Its end would end the engine's own.
  def test_an_application_does_not_subscribe_to_the_channel_of_the_engines
    RedisProcess.open do |redis|
      engines = Array.new(2) { engine(redis.url) }
      engines.last.subscribe("a")
      await_subscriber(redis)
      publish_one_by_one(engines.first, ["1"])
      engines.each do |engine|
        refute engine.subscribe("upwell:engines")
        refute engine.unsubscribe("upwell:engines")
        refute engine.publish("upwell:engines", "1")
      end
      redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      publish_one_by_one(engines.first, %w[2 3])
      assert_equal %w[1 2 3], heard(3)
    end
  end

  # It cannot ask for what it has missed.
  def test_a_user_that_may_not_publish
    users = ["default on nopass +@all allchannels", "listener on nopass +@all -publish allchannels"]
    RedisProcess.open(*users.flat_map { |user| ["--user", *user.split] }) do |redis|
      engine(redis.url.sub("unix://", "unix://listener:none@")).subscribe("a")
      far = engine(redis.url)
      await_subscriber(redis)
      publish_one_by_one(far, ["1"])
      redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      await { told(/'publish'/).any? }
      far.publish("a", "2")
      assert_equal %w[1 2], Timeout.timeout(10) { heard(2) }
    end
  end

  def test_a_user_without_the_channel_of_the_engines
    RedisProcess.open("--user", *%w[default on nopass +@all resetchannels &a]) do |redis|
      engine(redis.url).subscribe("a")
      far = engine(redis.url)
      await_subscriber(redis)
      far.publish("a", "1")
      heard(1)
      redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
      await_subscriber(redis)
      far.publish("a", "2")
      assert_equal ["2"], heard(1)
      assert_operator told(/rejects a subscription: NOPERM/).size, :<=, 2
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
      await { told(/lost the connection to Redis/).any? }
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
    assert_match(/needs the gem redis-client; install it: gem install redis-client \(LoadError\)$/, error)
  end
end
