# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/under_each_scheduler"
require "zlib"

# What Ruby can do without its lock, which it hands over since 3.4 to a scheduler that wants it.
class SchedulerOffloadingTest < Minitest::Test
  include UnderEachScheduler

  HANDED_OVER = RUBY_VERSION >= "3.4"
  BYTES = 300_000 # more than a pipe takes

  def test_others_run_while_threads_compress
    skip "Ruby 3.4 is the first to hand it over" unless HANDED_OVER

    on_every_backend(offload: true) do |scheduler|
      assert_respond_to scheduler, :blocking_operation_wait
      text = Random.bytes(1000) * 2000
      packed = nil
      Fiber.schedule { assert_equal text, Zlib.inflate(packed = Zlib.deflate(text)) }
      ticks = 0
      Fiber.schedule { (ticks += 1) && sleep(0.0001) until packed }
      scheduler.run
      assert_operator ticks, :>, 1
    end
  end

  def test_nobody_is_asked_unless_it_is_wanted
    on_every_backend do |scheduler|
      refute_respond_to scheduler, :blocking_operation_wait
      Fiber.schedule do
        threads = Thread.list
        assert_equal "text", Zlib.inflate(Zlib.deflate("text"))
        assert_predicate File.stat(__FILE__), :file?
        assert_empty Thread.list - threads
      end
    end
  end

  # Ruby 3.4 hands IO.copy_stream over, too, and calls the scheduler on the thread that it was handed to.
  def test_a_copy_that_has_to_wait
    skip_on_windows "Ruby copies by itself, and reading blocks"
    [false, true].each do |offload|
      on_every_backend(offload: offload) do |scheduler|
        Tempfile.create("upwell") do |file|
          reader, writer = IO.pipe
          Fiber.schedule { assert_equal BYTES, IO.copy_stream(reader, file) }
          Fiber.schedule { 3.times { |i| sleep(0.005) && writer.write(i.to_s * (BYTES / 3)) } && writer.close }
          scheduler.run
          assert_equal %w[0 1 2].map { |digit| digit * (BYTES / 3) }.join, File.read(file.path)
        end
      end
    end
  end

  def test_a_copy_to_one_who_does_not_keep_up
    skip_on_windows "Ruby copies by itself, and each pipe counts as writable"
    [false, true].each do |offload|
      on_every_backend(offload: offload) do |scheduler|
        reader, writer = IO.pipe
        Tempfile.create("upwell") do |file|
          File.write(file.path, "x" * BYTES)
          Fiber.schedule { IO.copy_stream(file.path, writer) && writer.close }
          Fiber.schedule { sleep(0.005) && assert_equal(BYTES, reader.read.size) }
          scheduler.run
        end
      end
    end
  end
end
