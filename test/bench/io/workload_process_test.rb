# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../bench/io/candidates"
require_relative "../../../bench/io/workloads"

# Tasks and servers under the scheduler that needs no gem, in real processes.
class WorkloadProcessTest < Minitest::Test
  RUBY_ALONE = Bench::GemInstallation.new(nil, folder: "io-ruby")
  SELECT = Bench::Io::Candidate.new(name: "select", program: "hello", libraries: %w[./select_scheduler.rb], choice: "SelectScheduler")

  def test_a_task_reports_what_it_took
    sample = Bench::Io::WorkloadProcess.run(SELECT.task_arguments("ping_pong", 0.01), RUBY_ALONE, 0.01)
    assert_operator sample.rate, :>, 100
    assert_operator sample.cpu_us, :>, 0.1
    assert_operator sample.peak, :>, 1_000_000
  end

  def test_what_a_library_prints_is_passed_over
    program = %(puts "{}", 1, '{"operations": 10, "seconds": 2, "user": 1, "system": 0, "peak": 5}', 2, "three")
    assert_equal 5, Bench::Io::WorkloadProcess.run([RbConfig.ruby, "-e", program], RUBY_ALONE, 1).rate
    error = assert_raises(Bench::Server::Error) { Bench::Io::WorkloadProcess.run(%w[echo 1], RUBY_ALONE, 1) }
    assert_equal "ends without figures", error.message
  end

  def test_a_task_that_fails_tells_why
    unknown = SELECT.dup.tap { |candidate| candidate.choice = "NoScheduler" }
    error = assert_raises(Bench::Server::Error) { Bench::Io::WorkloadProcess.run(unknown.task_arguments("spawn", 1), RUBY_ALONE, 1) }
    assert_match(/fails: .*uninitialized constant NoScheduler/, error.message)
  end

  def test_a_task_that_does_not_end_is_ended
    moment = 0.2 - Bench::Io::WorkloadProcess::GRACE_SECONDS
    error = assert_raises(Bench::Server::Error) { Bench::Io::WorkloadProcess.run(%w[sleep 60], RUBY_ALONE, moment) }
    assert_match(/does not end in 0.2 s/, error.message)
  end

  def test_a_run_that_leaves_something_undone_fails
    forgetful = Class.new { def spawn; end; def run = yield }
    load File.join(Bench::Io::FOLDER, "measure_workload.rb")
    require_relative "../../../bench/io/workloads/spawn"
    error = assert_raises(MeasureWorkload::Incomplete) { MeasureWorkload.new(Spawn, forgetful.new).measure(0.01) }
    assert_match(/0 of 20000 operations/, error.message)
  end

  def test_servers_answer_several_clients_at_once
    %w[hello tutorial].each do |program|
      server = SELECT.dup.tap { |candidate| candidate.program = program }
      Bench::Server.open(server.method(:arguments), installation: RUBY_ALONE) do |running|
        silent = TCPSocket.new("127.0.0.1", running.port)
        assert_nil Bench::Io::WORKLOADS.last.objection(running.request), program
        silent.close
      end
    end
  end
end
