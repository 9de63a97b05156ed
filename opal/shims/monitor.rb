# frozen_string_literal: true

# A monitor for a single thread, which never has to wait.
class Monitor
  def initialize
    @count = 0
  end

  def enter
    @count += 1
    nil
  end

  def exit
    raise ThreadError, "current thread not owner" if @count.zero?

    @count -= 1
    nil
  end

  def try_enter
    enter
    true
  end

  def synchronize
    enter
    begin
      yield
    ensure
      self.exit
    end
  end

  def mon_locked?
    @count.positive?
  end

  alias mon_owned? mon_locked?
  alias mon_enter enter
  alias mon_exit exit
  alias mon_try_enter try_enter
  alias mon_synchronize synchronize

  def new_cond
    MonitorMixin::ConditionVariable.new(self)
  end
end

# Gives an object its own monitor.
module MonitorMixin
  # No other thread can signal, so a wait would never end.
  class ConditionVariable
    def initialize(_monitor)
      @signalled = false
    end

    def wait(_timeout = nil)
      raise ThreadError, "a JavaScript runtime has one thread, so no other thread can end this wait"
    end

    def wait_while
      wait while yield
    end

    def wait_until
      wait until yield
    end

    def signal
      self
    end

    alias broadcast signal
  end

  def self.extend_object(object)
    super
    object.mon_initialize
  end

  def initialize(...)
    super
    mon_initialize
  end

  def mon_initialize
    @monitor = Monitor.new
  end

  def mon_enter
    @monitor.enter
  end

  def mon_exit
    @monitor.exit
  end

  def mon_synchronize(&block)
    @monitor.synchronize(&block)
  end

  alias synchronize mon_synchronize

  def new_cond
    @monitor.new_cond
  end
end
