# frozen_string_literal: true

require_relative "../test_helper"
require "stringio"

# The server's own log: text for people, or JSON for programs.
class LogTest < Minitest::Test
  TEXTS = {
    "plain" => "plain",
    "a \"b\" \\" => "a \"b\" \\",
    "two\n\tlines\n" => "two\n\tlines",
    "\e[2J\r\u009b\u0000" => "\\x1B[2J\\x0D\\x9B\\x00",
    "größer \u{1f600}" => "größer \u{1f600}",
    "\xFF" => "?",
    "\xE4".dup.force_encoding(Encoding::ISO_8859_1) => "?"
  }.freeze

  def teardown
    Upwell::Log.json = false
  end

  def tell(text, **options)
    stream = StringIO.new
    assert Upwell::Log.tell(text, stream, **options)
    stream.string
  end

  def test_text
    TEXTS.each { |text, told| assert_match(/\A[-0-9]{10}T[:0-9]{8}Z upwell\[#{Process.pid}\]: #{Regexp.escape(told)}\n\z/, tell(text)) }
    assert_match(/\]: \[a\\x0Ab\] c\n\z/, tell("c", request_id: "a\nb"))
  end

  def test_no_line_of_a_text_looks_like_a_record
    text = "bad parameter a\n2026-11-22T03:20:00Z upwell[1]: refused 10.0.0.1\n\tfrom app.rb:1\n\nend"
    assert_equal ["    2026-11-22T03:20:00Z upwell[1]: refused 10.0.0.1\n", "\tfrom app.rb:1\n", "\n", "    end\n"], tell(text).lines.drop(1)
  end

  def test_json
    Upwell::Log.json = true
    TEXTS.each_key do |text|
      line = tell(text, request_id: text)
      valid = text.dup.force_encoding(Encoding::UTF_8).scrub("?").chomp
      record = JSON.parse(line)
      assert_match(/\A[ -~]+\n\z/, line)
      assert_match(/\A[-0-9]{10}T[:0-9]{8}Z\z/, record.delete("time"))
      assert_equal({ "pid" => Process.pid, "message" => valid, "request_id" => valid }, record)
    end
    refute JSON.parse(tell("a")).key?("request_id")
  end

  def test_what_is_announced
    announced, told = capture_io { Upwell::Log.announce("a") }
    assert_equal ["a\n", ""], [announced, told]
    Upwell::Log.json = true
    announced, told = capture_io { Upwell::Log.announce("a") }
    assert_equal ["", "a"], [announced, JSON.parse(told)["message"]]
  end
end
