# frozen_string_literal: true

require "test_helper"
require "upwell/server"

# A worker as its supervisor sees it.
class WorkerTest < Minitest::Test
  PATIENCE = 60 # seconds

  # A preloaded application may have reset what SIGPIPE does.
  def in_supervisor
    supervisor = fork do
      trap("PIPE", "SYSTEM_DEFAULT")
      exit!(Timeout.timeout(PATIENCE) { yield } ? 0 : 1)
    end
    status = Process.wait2(supervisor).last
    assert_predicate status, :success?, status.to_s
  end

  def start(&block)
    Upwell::Server::Processes::Worker.fork([], Upwell::Configuration.new, &block)
  end

  def test_one_that_has_just_died_is_retired_without_a_signal
    in_supervisor do
      worker = start { 0 }
      worker.pipes.each(&:read) # its ends are closed
      worker.retire(1)
      !worker.draining?
    end
  end

  def test_one_that_is_killed_for_its_silence_gets_no_clients_while_it_dies
    worker = start { |status_writer, alive| Upwell::Server::Processes::Heartbeat.tell(status_writer, "poll\n") && alive.read && 0 }
    Timeout.timeout(PATIENCE) { worker.awaited.wait_readable && worker.check(0) until worker.ready? }
    late = worker.deadline
    assert worker.accepts?(0)
    capture_subprocess_io { worker.check(late) }
    assert_nil worker.deadline
    refute worker.accepts?(late)
  ensure
    worker&.kill
  end

  # Its predecessor would retire.
  def test_one_that_is_killed_for_its_slow_boot_is_not_ready_while_it_dies
    status_reader, status_writer = UNIXSocket.pair
    alive_reader, alive = UNIXSocket.pair
    pid = fork do
      alive.close
      alive_reader.read
      exit!(0)
    end
    worker = Upwell::Server::Processes::Worker.new(pid, status_reader, alive, Upwell::Configuration.new)
    capture_subprocess_io { worker.check(worker.deadline) }
    Upwell::Server::Processes::Heartbeat.tell(status_writer, "poll\n")
    worker.check(0)
    refute_predicate worker, :ready?
    assert_nil worker.awaited
  ensure
    worker&.kill
    [status_writer, alive_reader].compact.each(&:close)
  end

  # Serves, and is told to end before it could say so.
  class EndingServer
    def initialize(*, **)
      @drained = Thread::Queue.new
    end

    def backend = "poll"
    def in_flight = 0
    def long_lived_clients = 0
    def drain(**) = @drained << true
    def renew = nil

    def run
      Process.kill("TERM", Process.pid)
      @drained.pop
      yield.join
      true
    end
  end

  def test_one_that_is_told_to_end_just_before_it_is_ready_says_so
    configuration = Upwell::Configuration.new
    slot = Upwell::Server::Processes::Slot.new(0, [], configuration.drain_timeout)
    process = Upwell::Server::Processes::WorkerProcess.new(slot, configuration, Upwell::Server::Logs::LogFile.new(nil), EndingServer, -> {})
    worker = Upwell::Server::Processes::Worker.fork([], configuration) { |status_writer, alive| process.run(status_writer, alive) }
    Timeout.timeout(PATIENCE) { worker.awaited.wait_readable && worker.check(0) until worker.draining? }
    assert_equal "poll", worker.backend
  ensure
    worker&.kill
  end

  def test_one_whose_supervisor_has_just_died_gives_its_signs_without_a_signal
    in_supervisor do
      worker = start do |status_writer, alive|
        alive.read
        Upwell::Server::Processes::Heartbeat.give(status_writer, 0.01) { nil }.join
        0
      end
      worker.pipes.each(&:close)
      Process.wait2(worker.pid).last.success?
    end
  end

  # As on macOS.
  def test_signs_without_a_flag_that_not_every_system_has
    program = <<~RUBY
      require "socket"
      [Socket, Socket::Constants].each { |names| names.send(:remove_const, :MSG_NOSIGNAL) }
      require "upwell/server/processes/heartbeat"
      ours, theirs = UNIXSocket.pair
      Upwell::Server::Processes::Heartbeat.tell(ours, "sign") && puts(theirs.readpartial(100))
      theirs.close
      p Upwell::Server::Processes::Heartbeat.tell(ours, "sign")
    RUBY
    assert_equal "sign\nfalse\n", IO.popen([BundleGemPaths.environment_without_rubygems, RbConfig.ruby, "-Ilib", "-e", program], &:read)
  end
end
