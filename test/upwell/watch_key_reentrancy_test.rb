# frozen_string_literal: true

require_relative "../test_helper"

# Keys whose own methods let others use the loop meanwhile, as any method in Ruby may: another thread, for example.
class WatchKeyReentrancyTest < Minitest::Test
  CALLS_MAX = 6 # of a key's methods for one call of the loop's
  READY = File.open(File::NULL)

  # All of one name are the same key.
  class Key
    attr_reader :name

    class << self
      # Has the block run within the call of that number.
      def interrupt(number, &block)
        @left = number
        @block = block
      end

      def called
        @left -= 1
        @block.call if @left.zero?
      end
    end

    def initialize(name)
      @name = name
    end

    def hash
      self.class.called
      1
    end

    def eql?(other)
      self.class.called
      name == other.name
    end
  end

  def setup
    Key.interrupt(0) { nil }
  end

  def each_interruption
    names = BACKENDS - ["select"]
    skip "the extension was not loaded" if names.empty?
    names.product((1..CALLS_MAX).to_a) do |backend, number|
      @loop = Upwell::Loop.new(backend: backend)
      @loop.signal
      @loop.next_event # the loop is open, and counted
      @before = watches
      yield number
    end
  end

  def watches
    Upwell.stats[:watches]
  end

  def assert_watched(*names)
    names.each { |name| assert_raises(RuntimeError) { @loop.watch_timer(Key.new(name), 10) } }
    assert_equal names.size, watches - @before
    names.each { |name| @loop.unwatch(Key.new(name)) }
    assert_equal 0, watches - @before
    names.each { |name| @loop.watch_timer(Key.new(name), 0) }
    assert_equal names.sort, Array.new(names.size) { @loop.next_event.name }.sort
    assert_equal 0, watches - @before
  end

  # Two events have come; the second key is watched anew before its event is delivered.
  def test_an_event_is_delivered_while_its_key_is_watched_anew
    each_interruption do |number|
      %w[a b].each { |name| @loop.watch_io(Key.new(name), READY, false, true) }
      other = (%w[a b] - [@loop.next_event.name]).first
      interrupted = false
      Key.interrupt(number) { interrupted = @loop.next_event && %w[c d].each { |name| @loop.watch_timer(Key.new(name), 10) } }
      @loop.watch_timer(Key.new(other), 10)
      Key.interrupt(0) { nil }
      assert_equal other, @loop.next_event.name unless interrupted
      assert_watched(other, *(%w[c d] if interrupted)) # which are where the first two were in memory
    end
  end

  def test_a_key_is_taken_while_it_is_about_to_be
    each_interruption do |number|
      raised = 0
      watch = lambda do
        @loop.watch_timer(Key.new("a"), 10)
      rescue RuntimeError
        raised += 1
      end
      @loop.watch_timer(Key.new("b"), 10)
      interrupted = false
      Key.interrupt(number) do
        interrupted = true
        watch.call
      end
      watch.call
      Key.interrupt(0) { nil }
      assert_equal interrupted ? 1 : 0, raised
      assert_watched("a", "b")
    end
  end

  def test_a_key_is_unwatched_while_it_is_unwatched
    each_interruption do |number|
      %w[a b].each { |name| @loop.watch_timer(Key.new(name), 10) }
      interrupted = false
      Key.interrupt(number) { interrupted = @loop.unwatch(Key.new("a")) && @loop.watch_timer(Key.new("c"), 10) }
      @loop.unwatch(Key.new("a"))
      Key.interrupt(0) { nil }
      assert_watched("b", *("c" if interrupted))
    end
  end
end
