# frozen_string_literal: true

require_relative "../test_helper"
require "upwell/server/messaging/channels"

# What engines are told of subscriptions.
class ChannelEventsTest < Minitest::Test
  WAITING_MAX = 8192 # RB_UW_CHANGES_MAX
  AWAIT_MAX = 30 # seconds
  LISTENER = ->(*) {}

  # Tells what it is given to tell, and then ends.
  class TellingReactor
    def initialize(*news)
      @news = news
    end

    def await_channel_changes
      @news.shift
    end

    def listen_to(*) end
    alias deliver listen_to
    alias publish listen_to
    alias channel_stats listen_to
  end

  class Engine
    attr_reader :told

    def initialize
      @told = Queue.new
    end

    def subscribe(name, _match)
      told << "+#{name}"
    end

    def unsubscribe(name, _match)
      told << "-#{name}"
    end
  end

  def with_reactor
    settings = Upwell::Configuration.new({}, environment: {}).reactor_settings
    reactor = Upwell::Reactor.new(->(_env) { [200, {}, []] }, settings)
    runner = Thread.new { reactor.run }
    await { reactor.publish("none", "") }
    yield reactor
  ensure
    reactor&.stop
    runner&.join
  end

  def await(&condition)
    Timeout.timeout(AWAIT_MAX) { sleep 0.005 until condition.call }
  end

  # @return [Boolean] whether it was told of all topics at once, until it knew of those that are `expected`
  def hear(reactor, known, expected)
    once = false
    Timeout.timeout(AWAIT_MAX) do
      until known.sort == expected.sort
        changes, whole = reactor.await_channel_changes
        once |= whole
        known.clear if whole
        changes.each { |name, match, subscribed| subscribed ? known.push([name, match]) : known.delete([name, match]) }
      end
    end
    once
  end

  def test_nobody_listens_to_more_changes_than_are_kept
    with_reactor do |reactor|
      names = Array.new(10) { |index| ["n#{index}", index.even? ? nil : :redis] }
      ears = names.map { |name, match| reactor.listen_to(name, match, LISTENER) }
      refute hear(reactor, known = [], names)
      (WAITING_MAX / 2).times { reactor.unlisten(reactor.listen_to("short", nil, LISTENER)) }
      ears.shift(2).each { |ear| reactor.unlisten(ear) }
      reactor.listen_to("last", nil, LISTENER)
      await { reactor.channel_stats.values_at(:channels, :patterns) == [5, 4] }
      assert hear(reactor, known, expected = [*names.drop(2), ["last", nil]])
      reactor.listen_to("later", nil, LISTENER)
      refute hear(reactor, known, [*expected, ["later", nil]])
    end
  end

  def test_who_has_ended_before_there_is_a_loop
    reactor = Upwell::Reactor.new(->(_env) {}, Upwell::Configuration.new({}, environment: {}).reactor_settings)
    reactor.unlisten(reactor.listen_to("a", nil, LISTENER))
    assert_equal [[["a", nil, false]], false], Timeout.timeout(AWAIT_MAX) { reactor.await_channel_changes }
  end

  # The server's own engines are no reason to say that one is slow.
  def test_nobody_was_too_slow
    Upwell::PubSub.default = false
    _, log = capture_io do
      changes = [["a", nil, true]]
      channels = Upwell::Server::Messaging::Channels.new(TellingReactor.new([changes, true]))
      channels.begin
      await { Upwell::PubSub.engines.instance_variable_get(:@subscriptions).include?(["a", nil]) }
      channels.end
    end
    assert_empty log
  ensure
    Upwell::PubSub.default = nil
    Upwell::PubSub.unregister(Upwell::PubSub::PROCESS)
  end

  def test_an_engine_that_was_too_slow
    engine = Upwell::PubSub.register(Engine.new)
    engine.told.clear # of what others have left
    changes = [["a", nil, true], ["b", nil, true]]
    _, log = capture_io do
      channels = Upwell::Server::Messaging::Channels.new(TellingReactor.new([changes, false], [changes.drop(1), true], [changes.take(1), true]))
      channels.begin
      told = Timeout.timeout(AWAIT_MAX) { Array.new(5) { engine.told.pop } }
      channels.end
      assert_equal %w[+a +b -a -b +a], told
    end
    assert_equal 1, log.scan("of an engine are slow").size
  ensure
    Upwell::PubSub.unregister(engine)
  end
end
