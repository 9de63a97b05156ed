# frozen_string_literal: true

require "minitest/autorun"
require "tempfile"
require_relative "../../bench/lib/log_error_line"

class LogErrorLineTest < Minitest::Test
  def last_words(text)
    Tempfile.create("log") do |log|
      log.write(text)
      log.flush
      return Bench::LogErrorLine.of(log.path)
    end
  end

  def test_the_first_line_that_tells_of_an_error
    assert_equal "a.rb:1: no (NameError)", last_words("starting\na.rb:1: no (NameError)\n  from b.rb\nanother error\n")
    assert_equal "[BUG] Segmentation fault", last_words("[BUG] Segmentation fault\nerror.c:1\n\n7f00 [vsyscall]\n")
  end

  def test_files_go_without_their_folders
    assert_equal "b.rb:47:in 'x': cannot open \"c.so\", no http://a/b/c (Error)",
                 last_words("/home/me/a-1.2/b.rb:47:in 'x': cannot open \"/usr/lib/c.so\", no http://a/b/c (Error)")
  end

  def test_else_the_last_line
    assert_equal "bye", last_words("starting\n  bye \n\n")
  end

  def test_silence_and_broken_bytes
    assert_equal "it said nothing", last_words("")
    assert_equal "error \uFFFD", last_words("error \xFF\n".b)
  end
end
