# frozen_string_literal: true

require_relative "../../../test_helper"
require "upwell/server"

# The commands to a process: by signal or by name, and the rule of the second stop.
class CommandsTest < Minitest::Test
  Commands = Upwell::Server::Control::Commands
  PATIENCE = 30 # seconds
  THREADS = 8
  SAME = Commands::SAME_STOP

  # A process that obeys all commands, and records them.
  class Receiver
    attr_reader :calls

    def initialize
      @calls = Thread::Queue.new
    end

    %i[drain stop_at_once reopen_logs phased_restart hot_restart print_backtraces].each do |name|
      define_method(name) { |cause| @calls << [name, cause] }
    end

    def next_call
      Timeout.timeout(PATIENCE) { @calls.pop }
    end

    def all_calls
      Array.new(@calls.size) { @calls.pop }
    end
  end

  # A process without workers and log file.
  class Stoppable
    def drain(_cause)
      raise ThreadError, "no thread"
    end

    def stop_at_once(_cause)
      :stopped
    end
  end

  def setup
    @receiver = Receiver.new
    @commands = Commands.new(@receiver)
  end

  def text_of(&block)
    capture_subprocess_io(&block).last[/upwell\[\d+\]: (.*)/, 1]
  end

  def test_each_signal_has_its_command
    expected = { "TERM" => :drain, "INT" => :drain, "HUP" => :reopen_logs, "USR1" => :phased_restart, "USR2" => :hot_restart,
                 "TTIN" => :print_backtraces }
    expected.each do |name, method|
      receiver = Receiver.new
      Commands.new(receiver).signal(name)
      assert_equal [[method, "SIG#{name}"]], receiver.all_calls
    end
    assert_equal Commands::SIGNALS.keys.sort, expected.keys.sort
  end

  def test_a_command_has_a_name
    { "stop" => :drain, "reload" => :reopen_logs, "restart" => :phased_restart, "upgrade" => :hot_restart,
      "threads" => :print_backtraces }.each do |name, method|
      Thread.new { @commands.call(name, "socket") }.join
      assert_equal [[method, "socket"]], @receiver.all_calls
    end
    assert_raises(KeyError) { @commands.call("drain", "socket") }
    assert_raises(KeyError) { @commands.signal("WINCH") }
  end

  def test_stops_within_a_second_are_the_same_stop
    [0, 0, SAME / 2.0, SAME - 0.001].each { |at| @commands.signal("TERM", at) }
    assert_equal [[:drain, "SIGTERM"]], @receiver.all_calls
  end

  def test_a_later_stop_forces
    @commands.signal("INT", 5.0)
    @commands.signal("TERM", 5.0 + SAME)
    assert_equal [[:drain, "SIGINT"], [:stop_at_once, "SIGTERM"]], @receiver.all_calls
  end

  # The time of the first stop counts, not the time of the one before.
  def test_stops_without_a_pause_force
    [0, SAME * 0.6, SAME * 1.2].each { |at| @commands.signal("INT", at) }
    assert_equal [[:drain, "SIGINT"], [:stop_at_once, "SIGINT"]], @receiver.all_calls
  end

  def test_a_stop_by_name_and_a_stop_by_signal_have_one_rule
    @commands.call("stop", "socket", 0)
    @commands.signal("TERM", SAME / 2.0)
    @commands.call("reload", "socket", SAME / 2.0)
    @commands.signal("TERM", SAME)
    @commands.call("stop", "socket", SAME)
    assert_equal [[:drain, "socket"], [:reopen_logs, "socket"], [:stop_at_once, "SIGTERM"], [:stop_at_once, "socket"]], @receiver.all_calls
  end

  def test_of_stops_by_many_threads_one_is_the_first
    Array.new(THREADS) { |number| Thread.new { @commands.call("stop", number.to_s, 0) } }.each(&:join)
    assert_equal([:drain], @receiver.all_calls.map(&:first))
  end

  def test_a_process_may_stop_without_a_command
    assert_nil @commands.note_stop(0)
    assert_equal 0, @commands.note_stop(0.5)
    @commands.signal("TERM", SAME / 2.0)
    @commands.signal("TERM", SAME)
    assert_equal [[:stop_at_once, "SIGTERM"]], @receiver.all_calls
  end

  def test_a_stop_that_failed_is_the_first_stop
    commands = Commands.new(Stoppable.new)
    assert_raises(ThreadError) { commands.call("stop", "socket", 0) }
    assert_nil commands.signal("TERM", 0)
    assert_equal :stopped, commands.signal("TERM", SAME)
  end

  def test_other_commands_are_ignored
    commands = Commands.new(Stoppable.new)
    %w[HUP USR1 TTIN USR2].each { |name| assert_equal("SIG#{name} is ignored; restart the server instead", text_of { commands.signal(name) }) }
    assert_equal("socket is ignored; restart the server instead", text_of { commands.call("restart", "socket") })
    commands = Commands.new(Stoppable.new, hint: "signal the supervisor")
    assert_equal("SIGUSR2 is ignored; signal the supervisor", text_of { commands.signal("USR2") })
  end

  def test_signals_on_a_thread
    signals = Upwell::Server::Control::Signals.new(@commands.handlers(%w[USR1 TTIN])).trap
    %w[USR1 TTIN].each { |name| Process.kill(name, Process.pid) }
    assert_equal [[:phased_restart, "SIGUSR1"], [:print_backtraces, "SIGTTIN"]], [@receiver.next_call, @receiver.next_call].sort
  ensure
    signals.release
  end

  def test_signals_in_a_loop
    before = trap("USR1", "DEFAULT")
    pipe = Upwell::Server::Control::SignalPipe.new
    pipe.trap(%w[USR1])
    Process.kill("USR1", Process.pid)
    assert pipe.ends.first.wait_readable(PATIENCE)
    pipe.each { |name, at| @commands.signal(name, at) }
    assert_equal [[:phased_restart, "SIGUSR1"]], @receiver.all_calls
  ensure
    trap("USR1", before)
  end
end
