# backtick_javascript: true
# frozen_string_literal: true

# What the runtime knows of it.
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

  # @param signal [Integer, String, Symbol] 0 asks whether there is such a process
  # @raise [Errno::ESRCH, Errno::EPERM]
  def self.kill(signal, *pids)
    name = `typeof signal === "number"` ? signal : "SIG#{signal.to_s.delete_prefix("SIG")}"
    pids.each { |pid| Errno.translate(pid.to_s) { `process.kill(pid, #{name}.valueOf())` } }.size
  end
end
