# frozen_string_literal: true

require "test_helper"
require "minitest/mock"

# What the setting pubsub does.
class ServerMessagesTest < Minitest::Test
  PubSub = Upwell::PubSub

  def teardown
    PubSub.default = nil
  end

  def begin_and_end(target)
    messages = Upwell::Server::Messaging::Messages.new(target)
    messages.begin
    yield PubSub.default
  ensure
    messages&.end
  end

  def test_without
    begin_and_end(nil) { |default| assert_same PubSub::CLUSTER, default }
    begin_and_end("/tmp") { |default| assert_same PubSub::CLUSTER, default }
  end

  def test_a_redis
    capture_io { begin_and_end("unix:///nowhere") { |default| assert_equal "unix:///nowhere", default.to_s } }
  end

  def test_a_second_server_has_an_engine_of_its_own
    capture_io do
      first = nil
      begin_and_end("unix:///nowhere") { |default| first = default }
      begin_and_end("unix:///nowhere") { |default| refute_same first, default }
    end
  end

  def test_an_engine_that_the_application_chose
    PubSub.default = PubSub::PROCESS
    begin_and_end("unix:///nowhere") { |default| assert_same PubSub::PROCESS, default }
  end

  def test_without_the_gem
    PubSub::Redis.stub(:load_client, -> { raise LoadError, "needs the gem" }) do
      error = assert_raises(Upwell::ConfigurationError) { begin_and_end("unix:///nowhere") }
      assert_equal "pubsub: needs the gem", error.message
    end
  end

  def test_the_setting
    set = ->(value) { Upwell::Configuration.new({ pubsub: value }, environment: {}).pubsub }
    urls = %w[redis://a rediss://:b@a:1/2?ca_file=c unix:///a unix:/a]
    assert_equal urls, urls.map(&set)
    assert_equal [File.expand_path("bus"), nil], [set.call("bus"), set.call(nil)]
    ["http://a", "redis://a b", "redis:a"].each { |value| assert_raises(Upwell::ConfigurationError, value) { set.call(value) } }
  end
end
