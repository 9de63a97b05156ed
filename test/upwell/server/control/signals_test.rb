# frozen_string_literal: true

require_relative "../../../test_helper"
require "upwell/server/control/signal_pipe"

# Another thread raises into the main thread just while it runs the trap handler of a signal: the signal is handled all the same.
class SignalsTest < Minitest::Test
  class Late < StandardError; end

  # @yield sends the signal USR1 to this process, whose trap handler is interrupted
  # @return [Class] of what the main thread then raises
  def interrupt_trap_handler
    now = Upwell::Clock.method(:now)
    raised = false
    Upwell::Clock.define_singleton_method(:now) do # a trap handler notes the time of arrival
      Thread.new { Thread.main.raise(Late) unless raised }.join
      raised = true
      now.call
    end
    Process.kill("USR1", Process.pid)
    loop { Thread.pass }
  rescue Late => e
    e.class
  ensure
    Upwell::Clock.define_singleton_method(:now, &now)
  end

  def test_a_process
    handled = Thread::Queue.new
    signals = Upwell::Server::Control::Signals.new("USR1" => ->(name, _at) { handled << name }).trap
    assert_equal [Late, "USR1"], [interrupt_trap_handler, Timeout.timeout(30) { handled.pop }]
  ensure
    signals.release
  end

  def test_a_supervisor
    before = trap("USR1", "DEFAULT")
    pipe = Upwell::Server::Control::SignalPipe.new
    pipe.trap(%w[USR1])
    assert_equal Late, interrupt_trap_handler
    assert pipe.ends.first.wait_readable(30)
    pipe.each { |*signal| assert_equal "USR1", signal.first }
  ensure
    trap("USR1", before)
  end
end
