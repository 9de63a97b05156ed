# frozen_string_literal: true

# For what a system has not that a test is about, or is made with: the test is skipped, and tells why.
module PlatformSkips
  WINDOWS = Gem.win_platform?
  SIGNAL = Signal.list.key?("USR1") ? "USR1" : "TERM" # a process sends it to itself

  def skip_without_fork
    skip "no fork here" unless Process.respond_to?(:fork)
  end

  def skip_on_windows(reason)
    skip "Windows: #{reason}" if WINDOWS
  end

  # @return [Array<String>] a command, where there are no Unix ones, too
  def sleeping(seconds)
    WINDOWS ? [RbConfig.ruby, "--disable-gems", "-e", "sleep #{seconds}"] : ["sleep", seconds.to_s]
  end
end
