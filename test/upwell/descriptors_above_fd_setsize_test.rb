# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "rbconfig"

# A set of select(2) ends at 1,024, and what is beyond has to be found all the same. In a process of its own, which may open so many.
class DescriptorsAboveFdSetsizeTest < Minitest::Test
  SET = 1024
  NEEDED = 2 * SET
  PROGRAM = <<~RUBY.freeze
    fillers = Array.new(#{SET}) { File.open(File::NULL) }
    backend = ARGV.first
    reader, writer = IO.pipe
    found = [reader.fileno >= #{SET}]
    Thread.new do
      Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
      Fiber.schedule { found << reader.readpartial(1) << reader.wait_readable(10).equal?(reader) }
      Fiber.schedule { writer.write("x") && Fiber.scheduler.yield || writer.write("y") }
    end.join
    events = Upwell::Loop.new(backend: backend)
    events.watch_io(:readable, reader, false, true).watch_timer(:late, 10)
    selector = Upwell::Selector.new(backend: backend)
    selector.register(reader, IO::READABLE)
    p [*found, events.next_event, selector.wait(10).size]
  RUBY

  def test_what_is_beyond_a_set_is_found
    hard = Process.getrlimit(:NOFILE).last
    skip "a process may open #{hard} files here, not #{NEEDED}" if hard < NEEDED

    BACKENDS.each do |backend|
      command = [BundleGemPaths.environment_without_rubygems, RbConfig.ruby, "-I#{File.expand_path("../../lib", __dir__)}", "-rupwell"]
      output, errors, status = Open3.capture3(*command, "-e", PROGRAM, backend, rlimit_nofile: [NEEDED, hard])
      assert_predicate status, :success?, errors
      assert_equal "[true, \"x\", true, :readable, 1]\n", output, backend
    end
  end
end
