# frozen_string_literal: true

require "test_helper"
require_relative "../../../system_faults/failing_calls_library"

# A fork that fails, or succeeds late.
class ServerForkTest < Minitest::Test
  LATE = Upwell::Server::Processes::Fork::PATIENCE * 1.2

  # In front of what libraries have put there.
  module InPlace
    class << self
      attr_accessor :fork
    end

    def _fork
      InPlace.fork ? InPlace.fork.call(-> { super() }) : super
    end
  end

  # @param fork [Proc] called with the original, in place of what Ruby calls for a fork
  def with_fork(fork)
    Process.singleton_class.prepend(InPlace)
    InPlace.fork = fork
    yield
  ensure
    InPlace.fork = nil
  end

  def status_of(&child)
    Process.wait2(Upwell::Server::Processes::Fork.call(&child)).last.exitstatus
  end

  def compute(seconds)
    finish = Upwell::Clock.now + seconds
    nil while Upwell::Clock.now < finish
  end

  EVENT = "anon_inode:[eventfd]"

  # @return [Array<Integer>]
  def events
    links = Dir.children("/proc/self/fd").map { |number| "/proc/self/fd/#{number}" }
    links.select { |link| File.symlink?(link) && File.readlink(link) == EVENT }.map { |link| File.basename(link).to_i }
  end

  # Of the deadline that its parent has. The child has closed that descriptor, and opened a file.
  def test_a_deadline_in_a_child_closes_no_file_of_its_own
    before = events
    status = status_of do
      Upwell::ExitDeadline.set(60, "late")
      status_of { file_under?((events - before).first) ? 0 : 1 }
    end
    assert_equal 0, status
  end

  def file_under?(number)
    File.open(File::NULL) { |file| Upwell::Descriptor.replace(number, file.fileno) }
    Upwell::ExitDeadline.set(60, "late")
    File.readlink("/proc/self/fd/#{number}") == File::NULL
  end

  def test_the_status_is_the_childs
    assert_equal 7, status_of { 7 }
  end

  REFUSED = <<~RUBY
    require "upwell"
    require "upwell/server/processes/fork"
    Thread.new { sleep(10) && exit!(1) }
    Process.singleton_class.prepend(Module.new { def _fork = super }) if ARGV.first == "hook"
    begin
      p Upwell::Server::Processes::Fork.call { 0 }
    rescue Errno::EAGAIN
      p :refused
    end
  RUBY

  def test_one_that_is_tried_again_and_again_is_refused
    FailingCallsLibrary.build
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "fork"), Errno::EAGAIN::Errno)
      %w[plain hook].each do |way|
        command = [RbConfig.ruby, "-I", File.expand_path("../../../../lib", __dir__), "-e", REFUSED, way]
        environment = BundleGemPaths.environment_without_rubygems(FailingCallsLibrary.environment(folder))
        assert_equal ":refused\n", IO.popen(environment, command, &:read), way
      end
    end
  end

  # Libraries may take their time before and after it, in both processes.
  def test_one_that_is_late_and_successful_concerns_neither_parent_nor_child
    %i[sleep compute].repeated_permutation(2) do |in_parent, in_child|
      with_fork(late(in_parent, in_child)) { assert_equal(7, status_of { sleep(0.01) && 7 }, [in_parent, in_child]) }
    end
    sleep(0.01)
  end

  def late(in_parent, in_child)
    lambda do |original|
      method(in_parent).call(LATE)
      original.call.tap { |pid| method(pid.zero? ? in_child : in_parent).call(LATE) }
    end
  end

  def test_a_mistake_of_a_library_is_not_taken_for_a_lack_of_processes
    with_fork(->(_) { Mutex.new.unlock }) { assert_raises(ThreadError) { status_of { 0 } } }
  end

  def test_no_thread_is_left
    before = Thread.list # another test's may end meanwhile
    status_of { 0 }
    assert_empty Thread.list - before
  end
end
