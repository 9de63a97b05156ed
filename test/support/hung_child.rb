# frozen_string_literal: true

# The child of a `fork` that hangs in it. On Ruby 3.4 some do, for a lock that a thread of the parent had: see docs/guide/scheduler.md.
module HungChild
  POSSIBLE = RUBY_VERSION.start_with?("3.4.")
  COUNT_MAX = 2 # that are excused, and ...
  SHARE_MAX = 0.02 # ... of all children

  class << self
    # Ends it.
    #
    # @param pid [Integer]
    # @return [String, nil] what it waited in; nil when it has ended already
    def kill(pid)
      return if zombie?(pid)

      waits_in = File.read("/proc/#{pid}/wchan")
      Process.kill("KILL", pid)
      waits_in
    rescue SystemCallError
      nil # it was waited for just now
    end

    # @param waits_in [String]
    # @param hung [Integer] how many have by now
    # @param count [Integer] children so far
    # @return [Boolean]
    def excused?(waits_in, hung, count)
      POSSIBLE && waits_in.start_with?("futex_") && hung <= COUNT_MAX + (count * SHARE_MAX)
    end

    private

    # It has ended, and another has the pipe that its parent reads from.
    def zombie?(pid)
      File.read("/proc/#{pid}/stat").match?(/\) Z/)
    end
  end
end
