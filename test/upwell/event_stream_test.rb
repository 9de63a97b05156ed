# frozen_string_literal: true

require_relative "../test_helper"
require "upwell/event_stream"
require "stringio"

class EventStreamTest < Minitest::Test
  EventStream = Upwell::EventStream

  def test_data_is_a_line_each
    { "a" => "data: a\n\n", "" => "data: \n\n", "a\nb" => "data: a\ndata: b\n\n", "a\r\nb\rc\n" => "data: a\ndata: b\ndata: c\ndata: \n\n",
      7 => "data: 7\n\n", false => "data: false\n\n" }.each { |data, expected| assert_equal expected, EventStream.format(data) }
  end

  def test_fields_come_before_data
    assert_equal "event: tick\nid: 1\nretry: 1500\ndata: a\n\n", EventStream.format("a", event: :tick, id: 1, retry: 1.5)
    assert_equal "id: \ndata: a\n\n", EventStream.format("a", id: "")
    assert_equal "retry: 0\n\n", EventStream.format(nil, retry: 0)
    assert_equal "retry: 3000\n\n", EventStream.format(nil, retry: 3)
  end

  def test_comments
    assert_equal ":\n\n", EventStream.format_comment
    assert_equal ":a\n:b\n\n", EventStream.format_comment("a\r\nb")
  end

  def test_everything_is_sent_in_utf8
    expected = "data: Grüße\n\n"
    ["Grüße", "Grüße".b, "Grüße".encode("UTF-16LE"), "Grüße".encode("ISO-8859-1")].each do |data|
      assert_equal expected, EventStream.format(data)
      assert_equal Encoding::UTF_8, EventStream.format(data).encoding
    end
  end

  def test_what_would_break_the_stream_is_refused
    ["a\nb", "a\rb", "a\0b", "\n"].each do |text|
      assert_refused("the event's name is #{text.inspect}, but must be a single line without NUL") { EventStream.format("", event: text) }
      assert_refused("the event's id is #{text.inspect}, but must be a single line without NUL") { EventStream.format("", id: text) }
    end
  end

  def test_what_is_no_time_is_refused
    [-1, Float::NAN, Float::INFINITY, 1i, "1000", "1\ndata: a", false].each do |time|
      assert_refused("retry is #{time.inspect}, but must be a number of seconds, 0 or more") { EventStream.format("", retry: time) }
    end
  end

  def test_what_is_not_to_be_had_in_utf8_is_refused
    assert_refused('the text is "\xFF", which is not UTF-8; convert it, or encode it in Base64') { EventStream.format("\xFF".b) }
    assert_refused('the text is "\xFF", which is not UTF-8; convert it, or encode it in Base64') { EventStream.format_comment("\xFF") }
    error = assert_raises(ArgumentError) { EventStream.format("", id: "\xFF".dup.force_encoding("US-ASCII")) }
    assert_match(/\Athe event's id is "\\xFF", which cannot be converted to UTF-8 \(/, error.message)
  end

  def test_a_stream_is_written_to_and_closed
    stream = StringIO.new
    events = EventStream.new(stream)

    assert_same events, events.event("a", event: "tick").comment
    assert_nil events.close
    assert_equal "event: tick\ndata: a\n\n:\n\n", stream.string
    assert_predicate stream, :closed?
    assert_raises(IOError) { events.event("b") }
  end

  def test_what_is_refused_is_not_written
    stream = StringIO.new

    assert_raises(ArgumentError) { EventStream.new(stream).event("a", id: "\n") }
    assert_empty stream.string
  end

  private

  def assert_refused(message, &block)
    assert_equal message, assert_raises(ArgumentError, &block).message
  end
end
