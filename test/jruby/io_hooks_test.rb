# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/under_each_scheduler"

# The hooks by which JRuby reads and writes. It hands over part of a string, and would count from the string's beginning.
class IOHooksTest < Minitest::Test
  include UnderEachScheduler

  BYTES = (0...100_000).map { |i| ((i * 7) + (i / 251)) % 256 }.pack("C*").freeze # more than there is room for, in each place another
  PAIRS = [-> { IO.pipe }, -> { UNIXSocket.pair }].freeze

  def test_each_byte_comes_where_it_belongs
    on_every_pair do |reader, writer|
      Fiber.schedule { writer.write(BYTES) && writer.close }
      Fiber.schedule { assert reader.read.b == BYTES }
    end
  end

  def test_part_of_a_string_is_written
    on_every_pair do |reader, writer|
      Fiber.schedule { writer.write(BYTES[1000, 5]) && writer.close }
      Fiber.schedule { assert_equal BYTES[1000, 5], reader.read.b }
    end
  end

  def test_lines_and_parts_are_read_as_they_come
    on_every_pair do |reader, writer|
      read = []
      Fiber.schedule { read << reader.gets << reader.gets << reader.readpartial(9) }
      Fiber.schedule { ["li", "ne\nother\n", "rest"].each { |piece| writer.write(piece) && sleep(0.001) } }
      Fiber.scheduler.run
      assert_equal %W[line\n other\n rest], read
    end
  end

  def test_several_read_and_write_one_socket_and_one_closes_it
    on_every_backend do
      one, other = UNIXSocket.pair
      read = []
      2.times { Fiber.schedule { read << one.readpartial(1) } }
      Fiber.schedule { one.write("question\n") }
      Fiber.schedule { other.gets && other.write("ab") }
      Fiber.scheduler.run
      assert_equal %w[a b], read.sort
      Fiber.schedule { assert_raises(IOError) { one.read(1) } }
      Fiber.schedule { one.close }
    end
  end

  def test_what_is_not_ready_and_who_has_left_are_told
    on_every_pair do |reader, writer|
      Fiber.schedule do
        assert_raises(IO::WaitReadable) { reader.read_nonblock(1) }
        assert_equal :wait_readable, reader.read_nonblock(1, exception: false)
        reader.close
        assert_raises(Errno::EPIPE) { writer.write("x") }
      end
    end
  end

  private

  def on_every_pair
    on_every_backend { PAIRS.each { |pair| yield(*pair.call) } }
  end
end
