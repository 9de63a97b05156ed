# frozen_string_literal: true

require "test_helper"

class PubSubListenersTest < Minitest::Test
  # Takes whatever it is asked for, and never comes to do it.
  class BusyReactor
    def listen_to(*)
      Object.new
    end
  end

  # Raises what it is given, as often as there is something.
  class FailingReactor < BusyReactor
    attr_reader :heard

    def initialize(errors)
      super()
      @errors = errors
      @heard = []
    end

    def listen_to(channel, *)
      raise @errors.shift if @errors.any?

      @heard << channel
      super
    end
  end

  # Keeps what it is told of.
  class Engine
    attr_reader :told, :untold

    def subscribe(*topic)
      (@told ||= []) << topic
    end

    def unsubscribe(*topic)
      (@untold ||= []) << topic
    end
  end

  def setup
    @engine = Upwell::PubSub.register(Engine.new)
    @listeners = Upwell::PubSub::Listeners.new
  end

  def teardown
    Upwell::PubSub.unregister(@engine)
    @engine.told&.each { |name, match| Upwell::PubSub.engines.changed(name, match, false) }
  end

  def test_engines_know_of_listeners_before_the_reactor_has_come_to_them
    @listeners.subscribe("before \u00e4".b, nil, ->(*) {})
    @listeners.begin(BusyReactor.new)
    assert_equal [["before \u00e4", nil]], @engine.told
    @listeners.subscribe("after*", :redis, ->(*) {})
    assert_equal ["after*", :redis], @engine.told.last
  end

  # As the reactor does it.
  def test_what_cannot_be_subscribed_to_is_refused_before_there_is_a_reactor
    reactor = Upwell::Reactor.new(nil, Upwell::Configuration.new({}, environment: {}).reactor_settings)
    ask = [->(*topic) { @listeners.subscribe(*topic, ->(*) {}) }, ->(*topic) { reactor.listen_to(*topic, ->(*) {}) }]
    ask.each { |listen| [["a" * 1024, nil], ["a" * 255, :redis]].each { |topic| listen.call(*topic) } }
    [["a" * 1025, nil], ["a" * 256, :redis], ["a", :nats]].each do |topic|
      assert_equal 1, ask.map { |listen| assert_raises(ArgumentError) { listen.call(*topic) }.message }.uniq.size
    end
  end

  def test_what_fails_is_not_listened_to_later
    errors = [RuntimeError, NoMemoryError, ArgumentError]
    @listeners.begin(FailingReactor.new(errors.dup))
    errors.each { |error| assert_raises(error) { @listeners.subscribe("a", nil, ->(*) {}) } }
    assert_equal [@engine.told] * 2, [@engine.untold, [["a", nil]] * errors.size]
    @listeners.begin(next_one = FailingReactor.new([]))
    assert_empty next_one.heard
  end

  def test_one_that_is_interrupted_ends
    @engine.define_singleton_method(:subscribe) { |*topic| super(*topic) && raise(Interrupt, "amid") }
    @listeners.begin(reactor = FailingReactor.new([]))
    assert_raises(Interrupt) { @listeners.subscribe("a", nil, ->(*) {}) }
    @listeners.begin(next_one = FailingReactor.new([]))
    assert_empty reactor.heard + next_one.heard
    assert_equal [["a", nil]], @engine.untold
    assert_raises(Interrupt) { @listeners.subscribe("a", nil, ->(*) {}) }
    assert_equal [["a", nil]] * 2, @engine.told
  end

  # What comes of it the reactor tells: it may refuse what an engine was told of.
  def test_engines_know_of_a_listener_before_the_reactor_does
    known = nil
    reactor = BusyReactor.new
    engine = @engine
    reactor.define_singleton_method(:listen_to) { |*arguments| (known = engine.told.dup) && super(*arguments) }
    @listeners.begin(reactor)
    @listeners.subscribe("a*", :redis, ->(*) {})
    assert_equal [["a*", :redis]], known
  end

  def test_a_reactor_that_has_ended_has_no_listeners
    ended = BusyReactor.new
    ended.define_singleton_method(:listen_to) { |*| nil }
    @listeners.begin(ended)
    @listeners.subscribe("a", nil, ->(*) {})
    assert_equal [[["a", nil]], [["a", nil]]], [@engine.told, @engine.untold]
  end

  def test_one_that_has_ended_before_is_told_to_nobody
    @listeners.subscribe("a", nil, ->(*) {}).close
    @listeners.begin(BusyReactor.new)
    assert_nil @engine.told
  end
end
