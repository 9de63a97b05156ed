# frozen_string_literal: true

require "timeout"

# The child of a `fork` that hangs in it. On Ruby 3.4 some do, for a lock that a thread of the parent had: see docs/guide/scheduler.md.
module HungChild
  POSSIBLE = RUBY_VERSION.start_with?("3.4.") && Process.respond_to?(:fork)
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

    # Ends the children of this process that hang.
    #
    # @return [Integer] how many there were
    def end_children
      processes.count { |pid| family_of(pid)[0] == Process.pid && hangs?(pid) && kill(pid) }
    end

    # Ends those that a process has left behind: they have copies of its connections.
    #
    # @param group [Integer] that of the process
    # @return [void]
    def end_left_behind(group)
      processes.each { |pid| kill(pid) if POSSIBLE && family_of(pid)[1] == group && hangs?(pid) }
    end

    private

    def processes
      Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i)
    end

    # @return [Array<Integer>] its parent and its group
    def family_of(pid)
      File.read("/proc/#{pid}/stat").rpartition(")").last.split[1, 2].map(&:to_i)
    rescue SystemCallError
      [] # it has ended
    end

    def hangs?(pid)
      File.read("/proc/#{pid}/wchan").start_with?("futex_")
    rescue SystemCallError
      false
    end

    # It has ended, and another has the pipe that its parent reads from.
    def zombie?(pid)
      File.read("/proc/#{pid}/stat").match?(/\) Z/)
    end
  end

  # For Minitest's tests: one that failed, and has left such a child, is run once more. Most wait for their children without a deadline.
  module Again
    NAMES = [] # rubocop:disable Style/MutableConstant -- of the tests that were
    TEST_MAX = 300 # seconds

    def capture_exceptions
      super { Timeout.timeout(TEST_MAX) { yield } }
    end

    def run
      result = super
      test = "#{self.class}##{name}"
      return result if result.passed? || result.skipped? || NAMES.include?(test) || HungChild.end_children.zero?

      warn "#{test} is run once more, as a child of it hung in Ruby's fork: #{result.failure&.message}"
      NAMES << test
      self.class.new(name).run
    end
  end
  Minitest::Test.prepend(Again) if POSSIBLE && defined?(Minitest::Test)
end
