# frozen_string_literal: true

require "io/nonblock"
require "pty"
require_relative "../test_helper"

class NonblockingWriteTest < Minitest::Test
  def setup
    skip "is the extension's" unless defined?(Upwell::Descriptor.write)
    @reader, @writer = IO.pipe
  end

  def teardown
    [@reader, @writer].compact.each(&:close)
  end

  def test_writing
    assert_equal 4, Upwell::Descriptor.write(@writer.fileno, "text")
    assert_equal "text", @reader.readpartial(100)
  end

  # Another process has taken the room that there was.
  def test_writing_without_room_does_not_wait
    nil while @writer.write_nonblock("x" * 4096, exception: false).is_a?(Integer)
    @writer.nonblock = false
    Timeout.timeout(60) { assert_equal 0, Upwell::Descriptor.write(@writer.fileno, "text") }
  end

  # One is ready for writing as long as there is room for a byte.
  def test_writing_to_a_terminal_that_nobody_reads_does_not_wait
    PTY.open do |_reader, terminal|
      Timeout.timeout(60) { nil until Upwell::Descriptor.write(terminal.fileno, "x" * 1000) < 1000 }
    end
  end

  def test_writing_to_nobody
    @reader.close
    assert_raises(Errno::EPIPE) { Upwell::Descriptor.write(@writer.fileno, "text") }
  end
end
