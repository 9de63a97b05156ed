# frozen_string_literal: true

require "io/wait"
require "minitest/parallel_fork"
require_relative "second_attempt"

# The tests in several processes, each named after the test that it is at, and in a process group of its own with what its tests have
# forked. Nobody of them outlives the run or keeps it from its end: a child that hangs has a copy of the pipe that the results come by.
module ParallelTests
  RUN_MAX = 1800 # seconds
  LOOK_EVERY = 1 # second, whether one has ended before its time
  END_MAX = 5 # seconds from its results to the end of a process
  # Begun first: nobody waits at the end for one that was begun last.
  LONGEST = %w[
    TruncatedResponseTest RackTimeoutTest DrainTest ThreadRaiseTest ThreadLocalLibrariesTest TLSHandshakeTest OpalProgramCacheTest
    WorkerSupervisionTest WithoutExtensionTest
    OpalCommandTest TestCommandTest HijackTest SigpipeTest TLSTest AsyncGemTest CommandTest FibersModeTest InlineModeTest
    OpalExamplesTest OpalSingleProcessTest OpalWebSocketClientsTest OpalClusterTest OpalPublishAcrossWorkersTest OpalSlowClientsTest
    SameAsRubyTest
  ].freeze

  # For Minitest's tests.
  module Named
    def before_setup
      Process.setproctitle("#{self.class}##{name}")
      super
    end
  end

  # For Minitest: each process takes another suite when it is done with one. Some last for a minute: dealt out beforehand, most of them may
  # fall to one process.
  module Turns
    NUMBER = "S" # of a suite, for pack
    NUMBER_BYTES = 2

    def parallel_fork_suites
      super.partition { |suite| LONGEST.include?(suite.name) }.flatten(1)
    end

    def parallel_fork_setup_children(suites, *)
      @suites = suites
      @numbers, all = IO.pipe(binmode: true)
      all.write(suites.each_index.to_a.pack("#{NUMBER}*"))
      all.close
      super
    end

    def parallel_fork_run_test_suites(_dealt, reporter, options)
      while (number = next_number)
        parallel_fork_run_test_suite(@suites[number], reporter, options)
      end
    end

    private

    # Unbuffered: what is left is for the others.
    def next_number
      @numbers.sysread(NUMBER_BYTES).unpack1(NUMBER)
    rescue EOFError
      nil
    end
  end

  class << self
    # @param processes [Hash{Integer => IO}] each with the pipe of its results
    # @return [Array] the results of each
    def collect(processes)
      deadline = now + RUN_MAX
      processes.map { |pid, pipe| results(pid, pipe, deadline) }
    ensure
      processes.each_key { |pid| end_group(pid) }
    end

    # @param data [Array] the results of each process
    # @return [Array] the same, after second attempts
    def attempt_again(data)
      failed = data.flat_map(&:last)
      remaining = SecondAttempt.remaining(failed)
      data.map { |count, assertions, results| [count, assertions, results & remaining] }
    end

    private

    def results(pid, pipe, deadline)
      loop do
        status = Process.wait2(pid, Process::WNOHANG)&.last
        readable = pipe.wait_readable(status ? 0 : LOOK_EVERY)
        return Marshal.load(pipe) if readable && !pipe.eof? # rubocop:disable Security/MarshalLoad -- our own child's
        raise "ended without a result: #{status || Process.wait2(pid).last}" if status || readable
        raise "still at it after #{RUN_MAX} s:\n#{members(pid).join("\n")}" if now > deadline
      end
    end

    # Waits for who is ending just now.
    def end_group(pid)
      deadline = now + END_MAX
      sleep 0.05 until members(pid).empty? || now > deadline
      members(pid).each { |member| warn("left behind, and killed: #{member}") }
      Process.kill("KILL", -pid)
    rescue Errno::ESRCH
      nil # nobody is left
    end

    def members(group)
      Dir.children("/proc").grep(/\A\d+\z/).filter_map { |pid| describe(pid) if living_group(pid) == group }
    end

    # @return [Integer, nil]
    def living_group(pid)
      state, _parent, group = File.read("/proc/#{pid}/stat").rpartition(")").last.split
      group.to_i unless state == "Z"
    rescue SystemCallError
      nil
    end

    def describe(pid)
      "#{pid} #{title(pid)} (#{File.read("/proc/#{pid}/wchan")})"
    rescue SystemCallError
      pid
    end

    def title(pid)
      File.read("/proc/#{pid}/cmdline").delete("\0")
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

Minitest::Test.prepend(ParallelTests::Named)
Minitest.singleton_class.prepend(ParallelTests::Turns)
Minitest.after_parallel_fork { Process.setpgrp }
Minitest.define_singleton_method(:parallel_fork_child_data) do |processes|
  ParallelTests.attempt_again(ParallelTests.collect(processes.to_h))
end
