# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/io/executors"
require_relative "../../../bench/io/select_scheduler"

class ExecutorsTest < Minitest::Test
  # Takes the place of a scheduler that lets its user choose.
  class Choosy < SelectScheduler
    def initialize(backend:)
      super()
      raise ArgumentError, backend if backend != "epoll"
    end
  end

  def test_each_runs_what_is_spawned_in_what_was_spawned_to_its_end
    %w[Thread SelectScheduler].each do |class_name|
      done = []
      concurrency = Bench::Io::Executors.of(class_name)
      concurrency.run do
        2.times do |number|
          concurrency.spawn do
            sleep(0.001)
            concurrency.spawn { done << number }
          end
        end
      end
      assert_equal [0, 1], done.sort, class_name
    end
  end

  def test_a_backend_is_handed_on
    concurrency = Bench::Io::Executors.of("ExecutorsTest::Choosy", "epoll")
    ran = false
    concurrency.run { concurrency.spawn { ran = true } }
    assert ran
  end

  def test_fibers_share_one_thread
    threads = []
    concurrency = Bench::Io::Executors.of("SelectScheduler")
    concurrency.run { 2.times { concurrency.spawn { threads << Thread.current } } }
    assert_equal [2, 1], [threads.size, threads.uniq.size]
  end
end
