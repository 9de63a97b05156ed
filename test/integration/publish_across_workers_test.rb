# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/publish_across_workers_clients"

# What is published in one process of a server is heard in all of them.
class PublishAcrossWorkersTest < Minitest::Test
  include PublishAcrossWorkersClients

  ORDERED = 100 # messages, which the kernel takes at once
  DRAIN = %w[--drain-timeout 2].freeze # clients leave in the first half

  def serve(*arguments, **options, &block)
    ServerProcess.open("-w", "2", *arguments, app: "publish_across_workers.ru", **options, &block)
  end

  def test_it_is_heard_everywhere_once_and_in_order
    MODES.each do |mode|
      serve("--mode", mode) do |server|
        with_each_worker(server) do |one, other|
          hearers = [one, other, hear(server, other.worker, "&pattern=n?ws"), EventStream.new(server, other.worker)]
          check_ways(server, one, hearers)
          check_order(one, other, hearers)
          check_stats(server, one.worker)
        ensure
          hearers&.drop(2)&.each(&:close_socket)
        end
        assert_predicate server.stop, :success?, "#{mode}: #{server.lines.join}"
      end
    end
  end

  # A client of a new worker hears at once what is published elsewhere, and clients of the others go on.
  def test_a_worker_that_is_killed
    serve do |server|
      with_each_worker(server) do |staying|
        2.times do |round|
          workers = server.workers
          Process.kill("KILL", workers.find { |pid| pid != staying.worker })
          with_client(server, ->(pid) { !workers.include?(pid) }) do |new|
            staying.publish("client", "in #{round}")
            new.publish("client", "out #{round}")
            [staying, new].each { |client| assert_equal ["in #{round}", "out #{round}"], client.hear(2) }
          end
        end
      end
    end
  end

  def test_signals_that_the_server_outlives
    serve(*DRAIN) do |server|
      with_each_worker(server) do |*clients|
        server.signal("HUP")
        clients.each { |client| client.publish("client", "after HUP") }
        clients.each { |client| assert_equal ["after HUP"] * 2, client.hear(2) }
        server.signal("USR1")
        2.times { server.await(/was replaced/) }
        clients.each { |client| assert_gone(client) }
      end
      with_each_worker(server) do |one, other|
        one.publish("client", "after USR1")
        assert_equal ["after USR1"], other.hear(1)
      end
    end
  end

  def test_the_end_of_the_server
    serve(*DRAIN) do |server|
      with_each_worker(server) do |one, other|
        one.publish("count", ORDERED.to_s)
        server.signal("TERM")
        [one, other].each do |client|
          assert_equal Array.new(ORDERED, &:to_s), client.hear(ORDERED)
          assert_gone(client)
        end
      end
      assert_predicate server.await_end, :success?
    end
  end

  def test_a_folder_that_others_know
    in_a_folder do |folder|
      serve("--pubsub", folder) do |one|
        serve("--pubsub", folder) do |other|
          with_each_worker(one) do |*clients|
            with_client(other) do |far|
              all = [*clients, far]
              publish_by(folder)
              all.each { |client| assert_equal %w[text bytes], client.hear(2) }
              far.publish("client", "far")
              all.each { |client| assert_equal ["far"], client.hear(1) }
            end
          end
          [one, other].each { |server| assert_predicate server.stop, :success? }
        end
      end
      assert_empty Dir.children(folder)
    end
  end

  def test_a_folder_that_is_none
    Dir.mktmpdir do |base|
      { base => ["chmod 700", 0o755], File.join(base, "none", "bus") => ["no such", 0o700], "#{base}/#{"x" * 100}" => ["too long", 0o700] }
        .each do |folder, (reason, mode)|
        File.chmod(mode, base)
        app = File.join(ServerProcess::APPS, "publish_across_workers.ru")
        _, error, status = Open3.capture3(*ServerProcess.spawn_arguments("--pubsub", folder, app))
        refute_predicate status, :success?
        assert_match(/pubsub: .*#{reason}/, error)
      end
    end
  end

  private

  def check_ways(server, one, hearers)
    %w[client server thread binary].each do |way|
      one.publish(way, way)
      hearers.each { |hearer| assert_equal [way], hearer.hear(1) }
      encoding = way == "binary" ? "ASCII-8BIT" : "UTF-8"
      assert_equal server.workers.sort, Array.new(2) { server.await(/(\d+) heard #{way} #{encoding}\./)[1].to_i }.sort
    end
    one.publish("here", "here")
    assert_equal [["here"], one.worker], [one.hear(1), server.await(/(\d+) heard here/)[1].to_i]
    assert_equal "true", RawClient.get(server.port, "/publish?news=by-a-request").body
    hearers.each { |hearer| assert_equal ["by-a-request"], hearer.hear(1) }
  end

  def check_order(one, other, hearers)
    [one, other].each do |publisher|
      publisher.publish("count", ORDERED.to_s)
      hearers.each { |hearer| assert_equal Array.new(ORDERED, &:to_s), hearer.hear(ORDERED) }
    end
  end

  def check_stats(server, publisher)
    stats = nil
    Timeout.timeout(RawClient::READ_MAX) { nil until (stats = RawClient.get(server.port, "/stats").body).start_with?(publisher.to_s) }
    assert_match(/ peers=1 /, stats)
    assert_operator stats[/peers_sent=(\d+)/, 1].to_i, :>=, ORDERED + 4
    assert_operator stats[/peers_received=(\d+)/, 1].to_i, :>=, ORDERED
    assert_match(/peers_dropped=0 /, stats)
  end

  # By another process, which has nothing but the library.
  def publish_by(folder)
    command = [BundleGemPaths.environment_without_rubygems, RbConfig.ruby, "-I#{ServerProcess::ROOT}/lib"]
    assert_equal "[true, true]", IO.popen([*command, "-e", <<~RUBY, folder], &:read)
      require "upwell"
      connection = Upwell::PubSub.connect(ARGV[0])
      print [connection.publish("news", "text"), connection.publish("news", "bytes".b)]
      connection.close
    RUBY
  end

  def in_a_folder
    Dir.mktmpdir { |base| yield File.join(base, "bus") }
  end
end
