# frozen_string_literal: true

require "test_helper"

class EnginesTest < Minitest::Test
  # Keeps what it is told.
  class Told
    attr_reader :all

    def initialize
      @all = []
    end

    def subscribe(*arguments)
      @all << [:subscribe, *arguments]
    end

    def unsubscribe(*arguments)
      @all << [:unsubscribe, *arguments]
    end

    def publish(*arguments)
      @all << [:publish, *arguments]
      nil
    end
  end

  # Its author made a mistake.
  class Broken < Told
    def subscribe(*)
      raise NotImplementedError, "broken"
    end
  end

  def setup
    @own = Told.new
    @here = Told.new
    @engines = Upwell::PubSub::Engines.new(@own, @here)
  end

  def test_an_engine_hears_of_what_is_and_what_will_be
    @engines.changed("a", nil, true)
    @engines.changed("gone", nil, true)
    @engines.changed("gone", nil, false)
    engine = @engines.register(Told.new)
    assert_equal [[:subscribe, "a", nil]], engine.all
    @engines.changed("b*", :redis, true)
    @engines.changed("a", nil, false)
    assert_equal [[:subscribe, "b*", :redis], [:unsubscribe, "a", nil]], engine.all.drop(1)
  end

  def test_a_change_that_is_none_is_not_told
    engine = @engines.register(Told.new)
    2.times { @engines.changed("a", nil, true) }
    3.times { @engines.changed("a", nil, false) }
    assert_equal [[:subscribe, "a", nil], [:unsubscribe, "a", nil]], engine.all
  end

  def test_registered_once
    engine = Told.new
    2.times { @engines.register(engine) }
    @engines.changed("a", nil, true)
    assert_equal 1, engine.all.size
  end

  # Does something else when it is first told of a subscription.
  class Meddler < Told
    def initialize(&work)
      super()
      @work = work
    end

    def subscribe(*)
      super
      @work.tap { @work = nil }&.call
    end
  end

  def test_an_engine_that_is_detached_while_others_are_told_is_not_told
    engine = Told.new
    @engines.register(Meddler.new { @engines.unregister(engine) })
    @engines.register(engine)
    @engines.changed("a", nil, true)
    assert_equal [[:unsubscribe, "a", nil]], engine.all
  end

  def test_a_subscription_that_ends_while_engines_are_told_is_not_told
    @engines.register(Meddler.new { @engines.changed("a", nil, false) })
    engine = @engines.register(Told.new)
    @engines.changed("a", nil, true)
    assert_equal [[:unsubscribe, "a", nil]], engine.all
  end

  def test_a_subscription_that_an_engine_begins_while_it_is_told_of_all
    @engines.changed("a", nil, true)
    engine = @engines.register(Meddler.new { @engines.changed("b", nil, true) })
    assert_equal [[:subscribe, "a", nil], [:subscribe, "b", nil]], engine.all
  end

  def test_an_engine_that_detaches_itself_while_it_is_told_of_all
    %w[a b].each { |name| @engines.changed(name, nil, true) }
    engine = Meddler.new { @engines.unregister(engine) }
    @engines.register(engine)
    assert_equal %i[subscribe unsubscribe unsubscribe], engine.all.map(&:first)
  end

  def test_reset_tells_all_again
    engine = @engines.register(Told.new)
    @engines.changed("a", nil, true)
    @engines.reset(engine)
    assert_equal [[:subscribe, "a", nil]] * 2, engine.all
  end

  def test_an_engine_that_is_none_any_more_hears_the_end
    engine = Told.new
    @engines.default = engine
    @engines.changed("a", nil, true)
    @engines.unregister(engine)
    @engines.changed("b", nil, true)
    assert_equal [[:subscribe, "a", nil], [:unsubscribe, "a", nil]], engine.all
    assert_same @own, @engines.default
  end

  def test_subscriptions_that_end_with_the_server
    engine = @engines.register(Told.new)
    @engines.changed("a", nil, true)
    @engines.changed("b*", :redis, true)
    @engines.forget_subscriptions
    assert_equal [[:unsubscribe, "a", nil], [:unsubscribe, "b*", :redis]], engine.all.drop(2)
    @engines.changed("a", nil, true) # of the next one
    assert_equal [:subscribe, "a", nil], engine.all.last
  end

  def test_an_engine_that_was_behind_hears_what_has_changed_in_all
    engine = @engines.register(Told.new)
    %w[kept gone again].each { |name| @engines.changed(name, nil, true) }
    engine.all.clear
    changes = [["kept", nil, true], ["again", nil, true], ["kept", :redis, true], ["short", nil, true], ["again", nil, false],
               ["short", nil, false], ["again", nil, true]]
    @engines.catch_up(changes)
    assert_equal [[:unsubscribe, "gone", nil], [:subscribe, "kept", :redis]], engine.all
  end

  def test_who_publishes_chooses
    engine = Told.new
    refute @engines.publish("a", "1")
    @engines.publish(:b, "2", false)
    @engines.publish("c", "3", engine)
    assert_equal [[[:publish, "a", "1"]], [[:publish, "b", "2"]], [[:publish, "c", "3"]]], [@own, @here, engine].map(&:all)
  end

  def test_the_default
    engine = Told.new
    refute_predicate @engines, :default?
    @engines.default = engine
    @engines.changed("a", nil, true)
    assert @engines.publish("a", "1").equal?(false)
    assert_equal [[:subscribe, "a", nil], [:publish, "a", "1"]], engine.all
    @engines.default = nil
    assert_same @own, @engines.default
    @engines.default = false
    assert_same @here, @engines.default
  end

  def test_one_engines_mistake_is_not_the_others
    @engines.register(Broken.new)
    engine = @engines.register(Told.new)
    _, error = capture_io { @engines.changed("a", nil, true) }
    assert_equal [[:subscribe, "a", nil]], engine.all
    assert_match(/broken/, error)
  end

  def test_any_thread
    engine = @engines.register(Told.new)
    Array.new(4) { |n| Thread.new { 100.times { |i| @engines.changed("#{n}-#{i}", nil, true) } } }.each(&:join)
    assert_equal 400, engine.all.uniq.size
  end

  def test_an_engine_may_ask_while_it_is_told
    engine = Told.new
    engine.define_singleton_method(:subscribe) { |name, _match| PUBSUB.changed("of #{name}", nil, true) unless name.start_with?("of") }
    self.class.const_set(:PUBSUB, @engines)
    other = @engines.register(Told.new)
    @engines.register(engine)
    @engines.changed("a", nil, true)
    assert_equal ["a", "of a"], other.all.map { |told| told[1] }.sort
  ensure
    self.class.send(:remove_const, :PUBSUB)
  end

  def test_a_child_process_begins_with_them
    skip "this Ruby does not fork" unless Process.respond_to?(:fork)

    engine = @engines.register(Told.new)
    @engines.changed("a", nil, true)
    held = Queue.new
    holder = Thread.new { @engines.instance_variable_get(:@lock).synchronize { (held << 1) && sleep } } # another thread in the midst of it
    held.pop
    pid = fork do
      @engines.changed("b", nil, true)
      exit!(engine.all.size == 2 ? 0 : 1)
    end
    assert_predicate Process.wait2(pid).last, :success?
  ensure
    holder&.kill&.join
  end
end
