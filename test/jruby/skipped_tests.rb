# frozen_string_literal: true

require "minitest"

# The tests of the scheduler that JRuby 10.1 cannot pass, by what it lacks. Is required before them.
module SkippedTests
  TESTS = {
    "JRuby asks no scheduler (block, unblock) before a queue or a condition variable blocks" => %w[
      SchedulerTimeTest#test_a_timeout_loses_nothing_that_has_come
      SchedulerTimeTest#test_a_timeout_that_was_tried_once_is_not_lost_when_its_fiber_is_unblocked
      SchedulerTimeTest#test_a_timeout_ends_what_waits
      SchedulerTimeTest#test_a_time_for_a_queue_that_no_clock_shows_is_without_end
      SchedulerFiberTest#test_an_exception_is_raised_into_whatever_waits
    ],
    "JRuby from its jar has no command that a test could start: RbConfig.ruby is a file in the jar" => %w[
      SchedulerFiberTest#test_an_error_is_reported
      SchedulerFiberTest#test_exit_ends_the_process
      SchedulerFiberTest#test_an_interrupt_ends_all_and_runs_what_they_ensure
    ],
    "JRuby ends in a FiberError where an enumerator's block waits: it resumes a fiber that has transferred to the scheduler's" => %w[
      SchedulerFiberTest#test_fibers_within_fibers
    ],
    "JRuby's fibers are threads of Java: ten thousand take it half of the time that the test has" => %w[
      SchedulerTimeTest#test_ten_thousand_sleepers
    ],
    "JRuby's Thread#kill of a thread that is in Queue#push brings that a ThreadError (11 times of 40)" => %w[
      SchedulerFiberTest#test_a_thread_that_is_killed_ends_its_fibers
    ],
    "JRuby's Thread#raise into a thread whose fiber has just been transferred to brings a ThreadError in its stead" => %w[
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

Minitest::Test.prepend(SkippedTests)
