# frozen_string_literal: true

require "test_helper"
require "support/redis_process"

class PubSubExternalClientTest < Minitest::Test
  # As Timeout's, amid whatever is done.
  class Interrupted < StandardError; end

  AWAIT_MAX = 30 # seconds, of which none are needed

  def pop(queue)
    Timeout.timeout(AWAIT_MAX) { queue.pop }
  end

  def open
    skip "there is no redis-server" unless RedisProcess.there?

    RedisProcess.open do |redis|
      connection = Upwell::PubSub.connect(redis.url)
      yield connection, redis
    ensure
      connection&.close
    end
  end

  def test_each_subscription_has_what_it_asked_for
    open do |connection|
      heard = Array.new(3) { Queue.new }
      subscriptions = [["a", nil], ["a", nil], ["a*", :redis]].zip(heard).map do |(name, match), queue|
        connection.subscribe(name, match: match) { |*message| queue << message }
      end
      assert connection.publish("a", "1")
      assert_equal [%w[a 1]] * 3, heard.map { |queue| pop(queue) }
      assert subscriptions.last == "a*"
      subscriptions.first.close
      connection.publish("a", "2")
      assert_equal [%w[a 2]] * 2, heard.drop(1).map { |queue| pop(queue) }
      subscriptions[1].close
      connection.publish("a", "3")
      assert_equal %w[a 3], pop(heard.last)
      assert_equal [0, 0], heard.first(2).map(&:size)
    end
  end

  def test_a_subscriber_that_fails_is_followed_by_the_next_message
    open do |connection|
      heard = Queue.new
      connection.subscribe("a") { |_, message| message == "1" ? raise("failed") : heard << message }
      _, error = capture_io do
        connection.publish("a", "1")
        connection.publish("a", "2")
        assert_equal "2", pop(heard)
      end
      assert_match(/failed/, error)
    end
  end

  def test_a_subscriber_that_closes_the_connection
    open do |connection|
      closed = Queue.new
      connection.subscribe("a") do
        connection.subscribe("b") { nil } # a publisher is not to wait until this has been told to Redis
        connection.publish("b", "last")
        connection.close(AWAIT_MAX)
        closed << Thread.current
      end
      _, told = capture_io do
        connection.publish("a", "1")
        assert pop(closed).join(AWAIT_MAX)
      end
      assert_empty told
      assert_equal 2, connection.stats[:sent]
      refute(Thread.list.any? { |thread| thread.name&.start_with?("upwell redis") })
    end
  end

  def test_what_cannot_be_subscribed_to
    open do |connection|
      assert_raises(ArgumentError) { connection.subscribe("a") }
      assert_raises(ArgumentError) { connection.subscribe("a", match: :nats) { nil } }
    end
  end

  def test_a_target_that_is_none
    ["http://localhost", "redis:a"].each do |target|
      assert_match(/must be redis:.* or a directory/, assert_raises(ArgumentError) { Upwell::PubSub.connect(target) }.message)
    end
  end

  def test_a_subscriber_that_fails_or_changes_its_message_takes_it_from_no_other
    open do |connection|
      heard = Queue.new
      connection.subscribe("a") { |_, message| raise NotImplementedError, "failed" if message << "changed" }
      connection.subscribe("a") { |_, message| heard << message }
      _, error = capture_io do
        connection.publish("a", "1")
        assert_equal "1", pop(heard)
      end
      assert_match(/failed/, error)
    end
  end

  # As core/bus/bus_frame.h has it.
  def test_the_workers_of_a_folder
    Dir.mktmpdir do |folder|
      workers = Array.new(2) { |i| UNIXServer.new(File.join(folder, "#{i}-#{"0" * 15}#{i}.bus")) }
      UNIXServer.new(dead = File.join(folder, "7-0000000000000007.bus")).close
      File.write(File.join(folder, "other"), "")
      assert_path_exists dead
      connection = Upwell::PubSub.connect(folder)
      assert connection.publish("chan", "é")
      assert connection.publish("c", "\xff".b)
      connection.close
      frames = ["UB\x01\x01\0\0\0\x04\0\0\0\x02chané", "UB\x01\x00\0\0\0\x01\0\0\0\x01c\xff"].map(&:b).join
      workers.each do |worker|
        bytes = worker.accept.read
        hello = bytes.slice!(0, 12 + bytes[7].ord)
        assert_match(/\AUB\x01\x02\x00{3}.\x00{4}#{Process.pid}-\h{16}\.bus\z/n, hello)
        assert_equal frames, bytes
      end
    end
  end

  def test_a_folder_of_nobody
    Dir.mktmpdir { |folder| refute Upwell::PubSub.connect(folder).publish("a", "1") }
  end

  def test_a_folder_that_is_made_later
    Dir.mktmpdir do |base|
      connection = Dir.chdir(base) { Upwell::PubSub.connect("bus") }
      refute connection.publish("a", "1")
      Dir.mkdir(folder = File.join(base, "bus"))
      UNIXServer.open(File.join(folder, "1-0000000000000001.bus")) { assert connection.publish("a", "1") }
    ensure
      connection&.close
    end
  end

  def test_a_folder_with_a_path_that_is_too_long_or_names_that_are_no_text
    Dir.mktmpdir do |base|
      Dir.mkdir(folder = File.join(base, "a" * 100))
      ["1-0000000000000001.bus", "caf\xC3\xA9".b, "\xff".b].each { |name| File.write(File.join(folder, name), "") }
      refute Upwell::PubSub.connect(folder).publish("a", "1")
    end
  end

  def test_a_child_process_has_connections_to_a_folder_of_its_own
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    Dir.mktmpdir do |folder|
      UNIXServer.open(File.join(folder, "1-0000000000000001.bus")) do |worker|
        connection = Upwell::PubSub.connect(folder)
        assert connection.publish("a", "parent")
        pid = fork { exit!(connection.publish("a", "child") ? 0 : 1) }
        assert_predicate Process.wait2(pid).last, :success?
        connection.close
        received = Array.new(2) { worker.accept.read }
        assert_equal [/parent\z/, /child\z/], [/parent\z/, /child\z/].select.with_index { |ending, i| received[i].match?(ending) }
      end
    end
  end

  def test_a_message_that_is_interrupted_does_not_mix_with_the_next
    Dir.mktmpdir do |folder|
      UNIXServer.open(File.join(folder, "1-0000000000000001.bus")) do |worker|
        connection = Upwell::PubSub.connect(folder)
        reader = interrupt_amid(Thread.current, worker)
        assert_raises(Interrupted) { connection.publish("a", "x" * 4_000_000) }
        assert_match(/x\z/, reader.value)
        assert connection.publish("b", "whole")
        connection.close
        assert_match(/\.busUB\x01\x01\0{3}\x01\0{3}\x05bwhole\z/n, worker.accept.read)
      end
    end
  end

  # More than the kernel takes is on its way.
  def interrupt_amid(publisher, worker)
    Thread.new do
      socket = worker.accept
      beginning = socket.read(1000)
      publisher.raise(Interrupted)
      Timeout.timeout(AWAIT_MAX) { beginning + socket.read }
    end
  end

  def test_a_message_that_is_too_long_for_a_folder
    Dir.mktmpdir do |folder|
      connection = Upwell::PubSub.connect(folder)
      refute connection.publish("a" * 1025, "1")
      refute connection.publish("a", "1" * ((4 * 1024 * 1024) + 1))
    end
  end
end
