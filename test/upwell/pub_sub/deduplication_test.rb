# frozen_string_literal: true

require "test_helper"

class RedisDeduplicationTest < Minitest::Test
  def setup
    @got = []
    @once = Upwell::PubSub::Redis::Deduplication.new(->(*message) { @got << message.join(":") })
  end

  def hear(*events)
    events.each { |pattern, channel, message| @once.call(pattern, channel, message) }
    @got
  end

  def test_a_channel_and_its_patterns
    assert_equal ["a:1"], hear([nil, "a", "1"], ["a*", "a", "1"], ["*", "a", "1"])
  end

  def test_patterns_alone
    assert_equal ["a:1", "b:1"], hear(["a*", "a", "1"], ["*", "a", "1"], ["*", "b", "1"])
  end

  def test_the_same_text_again
    assert_equal ["a:1"] * 2, hear([nil, "a", "1"], ["*", "a", "1"], [nil, "a", "1"], ["*", "a", "1"])
  end

  def test_the_same_text_again_for_patterns_in_another_order
    assert_equal ["a:1"] * 2, hear(["a*", "a", "1"], ["*", "a", "1"], ["*", "a", "1"], ["a*", "a", "1"])
  end

  def test_after_another_connection
    hear(["a*", "a", "1"])
    @once.forget
    assert_equal ["a:1"] * 2, hear(["*", "a", "1"])
  end
end
