# frozen_string_literal: true

require "minitest"

# The tests of the scheduler that JRuby 10.1 cannot pass, by what it lacks. Is required before them.
module Lacks
  TESTS = {
    "JRuby asks no scheduler (block, unblock) before a queue or a condition variable blocks" => %w[
      SchedulerTimeTest#test_a_timeout_loses_nothing_that_has_come
      SchedulerTimeTest#test_a_timeout_that_was_tried_once_is_not_lost_when_its_fiber_is_unblocked
      SchedulerTimeTest#test_a_timeout_ends_what_waits
      SchedulerFiberTest#test_an_exception_is_raised_into_whatever_waits
    ],
    "JRuby asks no scheduler before it reads but by io_read, which brings zeros" => %w[
      SchedulerTimeTest#test_a_timeout_loses_nothing_that_was_read
      SchedulerTimeTest#test_a_timeout_loses_nothing_that_comes_as_it_is_raised
      SchedulerTimeTest#test_what_was_ready_in_time_is_not_late
      SchedulerFiberTest#test_a_second_exception_while_the_first_is_on_its_way
      SchedulerFiberTest#test_what_comes_after_an_exception_is_for_the_next_reader
    ],
    "JRuby from its jar has no command that a test could start" => %w[
      SchedulerFiberTest#test_an_error_is_reported
      SchedulerFiberTest#test_exit_ends_the_process
      SchedulerFiberTest#test_an_interrupt_ends_all_and_runs_what_they_ensure
    ],
    "JRuby's enumerators resume their fiber, which cannot transfer to the scheduler's then" => %w[
      SchedulerFiberTest#test_fibers_within_fibers
      SchedulerTimeTest#test_a_timeout_reaches_a_fiber_that_has_resumed_another
    ],
    "JRuby takes longer to start a fiber than the test's times differ" => %w[
      SchedulerTimeTest#test_sleeps_pass_side_by_side_in_their_order
    ],
    "JRuby's fibers are threads, of which it cannot run ten thousand in the time of the test" => %w[
      SchedulerTimeTest#test_ten_thousand_sleepers
    ],
    "Thread#kill of JRuby does not reach the fiber that runs" => %w[
      SchedulerFiberTest#test_a_thread_that_is_killed_ends_its_fibers
    ],
    "Thread#raise of JRuby does not end an IO.select of a thread that has fibers" => %w[
      SchedulerFiberTest#test_fibers_that_outlive_their_scheduler_can_be_raised_into
    ]
  }.freeze
  REASONS = TESTS.flat_map { |reason, tests| tests.map { |test| [test, reason] } }.to_h.freeze

  # @return [void]
  def before_setup
    super
    reason = REASONS["#{self.class}##{name}"]
    skip reason if reason
  end
end

Minitest::Test.prepend(Lacks)
