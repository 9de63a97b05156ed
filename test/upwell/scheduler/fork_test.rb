# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/forked_fibers"
require_relative "../../support/under_each_scheduler"

# A child that a fiber forks has this fiber alone: the others, and all that they wait for, are its parent's.
class SchedulerForkTest < Minitest::Test
  include UnderEachScheduler

  PROGRAM = File.expand_path("../../support/fork_on_signal.rb", __dir__)

  def setup
    skip_without_fork
  end

  def test_who_raised_into_a_fiber_that_forks_goes_on_in_the_parent_alone
    on_every_backend do |scheduler|
      reader, writer = IO.pipe
      statuses = []
      raised = Fiber.schedule do
        sleep
      rescue KeyError
        statuses << Process.wait2(fork { sleep(0.001) }).last.exitstatus
      end
      Fiber.schedule { raised.raise(KeyError) || writer.write(Process.pid, " ") }
      scheduler.run
      writer.close
      assert_equal ["#{Process.pid} ", [0]], [reader.read, statuses]
    end
  end

  # The thread of these fibers is the child's main thread.
  def test_a_child_ends_with_the_fiber_that_has_forked_it
    on_every_backend do |_, backend|
      ForkedFibers::ENDS.each_key do |how|
        assert_equal [how, backend, *ForkedFibers.expected(how)], [how, backend, *ForkedFibers.new(how).run]
      end
    end
  end

  def test_a_child_of_the_main_thread_ends_with_the_fiber_that_has_forked_it
    BACKENDS.each do |backend|
      ends = ForkedFibers::ENDS.keys
      run_program(backend, *ends) do |program|
        ends.each { |how| assert_equal "#{[how, *ForkedFibers.expected(how)].inspect}\n", program.gets, backend }
      end
    end
  end

  # As a fiber ends that is stopped. It has a second for what it ensures, in which the child of a process as large as this one may not end: so it
  # is waited for by who has no scheduler.
  def test_the_child_of_a_fiber_that_is_stopped_ends_without_a_report
    BACKENDS.each do |backend|
      reader, writer = IO.pipe
      child = Thread.new { stop_and_fork(backend, writer) }.join(PATIENCE).value
      writer.close
      assert_equal [true, ""], [Process.wait2(child).last.success?, reader.read], backend
    end
  end

  def test_a_child_that_ends_forks_another
    BACKENDS.each do |backend|
      reader, writer = IO.pipe
      scheduled(backend) { Fiber.schedule { Process.wait(fork || fork_at_exit(writer)) } }
      writer.close
      assert_equal "grandchild, child", reader.read, backend
    end
  end

  # The handler is called where the loop waits: its child goes on behind that, and has no fibers.
  def test_the_child_of_a_trap_handler_leaves_the_fibers_alone
    skip "Ruby goes on to wait in IO.select itself" if BACKENDS.include?("select")

    BACKENDS.each do |backend|
      run_program(backend) do |program|
        assert_equal "ready\n", program.gets
        sleep(0.05) # for the loop to wait; should it not yet, all the same holds
        Process.kill(:USR1, program.pid)
        told = program.readlines(chomp: true)
        assert_equal ["the child goes on", *["ended in the parent"] * 2, "the child has ended with 3"].sort, told.sort, backend
      end
    end
  end

  private

  # Returns the child's number.
  def stop_and_fork(backend, writer)
    child = nil
    Fiber.set_scheduler(Upwell::Scheduler.new(backend: backend))
    Fiber.schedule do
      sleep
    ensure
      child = fork or $stderr.reopen(writer)
    end
    Fiber.schedule { Fiber.scheduler.yield || exit }
    Fiber.scheduler.close
  rescue SystemExit
    child
  end

  def fork_at_exit(writer)
    at_exit do
      Process.wait(fork { writer.write("grandchild, ") })
      writer.write("child")
    end
    Thread.exit
  end

  def run_program(backend, *arguments, &block)
    environment = BundleGemPaths.environment_without_rubygems("UPWELL_BACKEND" => backend)
    IO.popen([environment, RbConfig.ruby, "-I#{$LOAD_PATH.first}", PROGRAM, *arguments], err: File::NULL) { |program| Timeout.timeout(PATIENCE) { block.call(program) } }
  end
end
