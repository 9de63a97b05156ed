# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require_relative "../support/publish_across_workers_clients"
require_relative "../redis_outages/publishing_servers"
require_relative "../support/redis_process"

# Servers that tell each other by Redis.
class RedisPubSubTest < Minitest::Test
  include PublishAcrossWorkersClients

  ORDERED = 100 # messages

  def setup
    skip "there is no redis-server" unless RedisProcess.there?
  end

  def serve(redis, *arguments, &block)
    options = ["--pubsub", redis.url, *arguments]
    ServerProcess.open(*options, app: "publish_on_get.ru", &block)
  end

  def publish(server, text)
    assert_equal "true", RawClient.get(server.port, "/#{text}").body
  end

  # @return [Array<Integer>] the workers that tell of it
  def await_heard(server, text, workers)
    Array.new(workers) { server.await(/heard #{text} in (\d+)/)[1].to_i }
  end

  def test_two_servers_and_all_their_workers
    RedisProcess.open do |redis|
      serve(redis, "-w", "2") do |one|
        serve(redis, "--mode", "threads:2") do |other|
          await_subscribers(redis, 3)
          [one, other].each_with_index do |publisher, index|
            publish(publisher, index.to_s)
            heard = [await_heard(one, index, 2), await_heard(other, index, 1)]
            assert_equal [2, 1], heard.map { |workers| workers.uniq.size }
          end
          [one, other].each { |server| assert_predicate server.stop, :success? }
          assert_equal [4, 2], [one, other].map { |server| server.lines.join.scan("heard").size }, "none twice"
        end
      end
    end
  end

  # As many clients of two "machines", and another process.
  def test_clients_of_two_servers
    with_two_servers do |redis, one, other|
      with_each_worker(one) do |*clients|
        with_client(other) do |far|
          all = [*clients, far]
          await_subscribers(redis, 3)
          publish_by(redis.url)
          all.each { |client| assert_equal ["by a task"], client.hear(1) }
          all.each { |client| client.publish("count", ORDERED.to_s) }
          all.each { |client| assert_equal Array.new(ORDERED) { |number| [number.to_s] * 3 }.flatten.sort, client.hear(3 * ORDERED).sort }
          far.publish("here", "here")
          far.publish("thread", "everywhere")
          assert_equal %w[here everywhere], far.hear(2)
          clients.each { |client| assert_equal ["everywhere"], client.hear(1) }
        end
      end
    end
  end

  def test_clients_stay_while_redis_is_away
    with_two_servers do |redis, one, other|
      with_client(one) do |near|
        with_client(other) do |far|
          redis.kill
          [one, other].each { |server| server.await(/lost the connection to Redis/) }
          near.publish("client", "kept")
          redis.start
          [one, other].each { |server| server.await(/connected to Redis again/) }
          await_subscribers(redis, 3)
          far.publish("client", "again")
          [near, far].each { |client| assert_equal %w[again kept], hear_until(client, "again", "kept").sort }
        end
      end
    end
  end

  # In short what rake test:redis_outages does.
  def test_four_workers_miss_nothing_of_an_outage
    PublishingServers.open do |workers|
      workers.publish do
        sleep 0.5
        workers.redis.away(:kill, 1)
        sleep 0.5
      end
      result = workers.result
      assert_equal 0, result.missing, "#{result}\n#{workers.log}"
      assert_predicate result, :once_and_in_order?
    end
  end

  def test_a_redis_that_is_killed
    RedisProcess.open do |redis|
      serve(redis) do |server|
        await_subscribers(redis, 1)
        publish(server, "a")
        await_heard(server, "a", 1)
        redis.kill
        server.await(/lost the connection to Redis/)
        publish(server, "kept")
        redis.start
        server.await(/connected to Redis again/)
        await_subscribers(redis, 1)
        publish(server, "again")
        await_heard(server, "again", 1)
        server.stop
        once = [/lost the connection to Redis/, /connected to Redis again/, /heard kept/]
        assert_equal [1, 1, 1], once.map { |pattern| server.lines.join.scan(pattern).size }
      end
    end
  end

  def test_what_a_request_has_published_is_sent_at_the_end
    RedisProcess.open do |redis|
      connection = Upwell::PubSub.connect(redis.url)
      heard = Queue.new
      connection.subscribe("news") { |_channel, message| heard << message }
      connection.publish("news", "here")
      Timeout.timeout(RawClient::READ_MAX) { heard.pop }
      serve(redis) do |server|
        publish(server, "last")
        assert_predicate server.stop, :success?
      end
      assert_equal "last", Timeout.timeout(RawClient::READ_MAX) { heard.pop }
    ensure
      connection&.close
    end
  end

  # Each end of a process has it sent; that of one whose Redis is away tells.
  def test_an_engine_of_the_applications_own
    [[], ["-w", "1"]].each do |options|
      ServerProcess.open(*options, app: "publish_on_get.ru", environment: { "REDIS" => "unix:///nowhere" }) do |server|
        publish(server, "lost")
        assert_predicate server.stop, :success?
        assert_equal 1, server.lines.join.scan("1 messages were dropped").size, server.lines.join
      end
    end
  end

  def test_a_url_that_is_none
    ["redis://a b", "http://localhost"].each do |url|
      _, error, status = Open3.capture3(*ServerProcess.spawn_arguments("--pubsub", url, File.join(ServerProcess::APPS, "publish_on_get.ru")))
      refute_predicate status, :success?
      assert_match(%r{pubsub: must be redis://HOST, rediss://HOST or unix:///PATH, or a directory, got "#{url}"}, error)
    end
  end

  private

  def with_two_servers
    RedisProcess.open do |redis|
      ServerProcess.open("--pubsub", redis.url, "-w", "2", app: "publish_across_workers.ru") do |one|
        ServerProcess.open("--pubsub", redis.url, "--mode", "threads:2", app: "publish_across_workers.ru") do |other|
          await_subscribers(redis, 3)
          yield redis, one, other
          [one, other].each { |server| assert_predicate server.stop, :success?, server.lines.join }
        end
      end
    end
  end

  def hear_until(client, *expected)
    heard = client.hear(1)
    heard += client.hear(1) until (expected - heard).empty?
    heard
  end

  # By another process, a Rake task for one.
  def publish_by(url)
    assert_equal "true", IO.popen([BundleGemPaths.environment, RbConfig.ruby, "-I#{ServerProcess::ROOT}/lib", "-e", <<~RUBY, url], &:read)
      require "upwell"
      connection = Upwell::PubSub.connect(ARGV[0])
      print connection.publish("news", "by a task")
      connection.close
    RUBY
  end

  def await_subscribers(redis, count)
    Timeout.timeout(RawClient::READ_MAX) { sleep 0.01 until redis.ask("PUBSUB", "NUMSUB", "news").include?(":#{count}") }
  end
end
