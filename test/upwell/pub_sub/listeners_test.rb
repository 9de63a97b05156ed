# frozen_string_literal: true

require "test_helper"

class PubSubListenersTest < Minitest::Test
  # Takes whatever it is asked for, and never comes to do it.
  class BusyReactor
    def listen_to(*)
      Object.new
    end
  end

  # Keeps what it is told of.
  class Engine
    attr_reader :told

    def subscribe(*topic)
      (@told ||= []) << topic
    end

    def unsubscribe(*) end
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

  def test_one_that_has_ended_before_is_told_to_nobody
    @listeners.subscribe("a", nil, ->(*) {}).close
    @listeners.begin(BusyReactor.new)
    assert_nil @engine.told
  end
end
