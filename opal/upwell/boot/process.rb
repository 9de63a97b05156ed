# backtick_javascript: true
# frozen_string_literal: true

# The process, as far as the runtime knows it.
module Process
  def self.pid
    `process.pid`
  end

  def self.ppid
    `process.ppid`
  end

  def self.uid
    `process.getuid()`
  end

  NANOSECONDS = { nanosecond: 1, microsecond: 1_000, millisecond: 1_000_000, second: 1_000_000_000 }.freeze

  # @param clock [Integer] CLOCK_MONOTONIC, or any other value for the wall clock
  # @param unit [Symbol] one of Ruby's
  def self.clock_gettime(clock, unit = :float_second)
    nanoseconds = clock == CLOCK_MONOTONIC ? `Number(process.hrtime.bigint())` : `Date.now() * 1e6`
    name = unit.to_s
    per = NANOSECONDS[name.delete_prefix("float_")] || raise(ArgumentError, "unexpected unit: #{unit}")
    name.start_with?("float_") ? `nanoseconds / per` : `Math.floor(nanoseconds / per)`
  end

  # Sends a signal to processes (see kill(2)).
  #
  # @param signal [Integer, String, Symbol] 0 only checks whether the process exists
  # @raise [Errno::ESRCH, Errno::EPERM] when the process does not exist, or belongs to another user
  def self.kill(signal, *pids)
    name = `typeof signal === "number"` ? signal : "SIG#{signal.to_s.delete_prefix("SIG")}"
    pids.each { |pid| Errno.translate(pid.to_s) { `process.kill(pid, #{name}.valueOf())` } }.size
  end
end
