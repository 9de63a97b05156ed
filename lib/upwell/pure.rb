# frozen_string_literal: true

require "etc"
require_relative "pure/loop"
require_relative "pure/selector"

module Upwell
  # What stands in for the extension where it cannot be loaded: on another Ruby, another system, or without a compiler.
  module Pure
    ASKING_JRUBY = "4.0" # the Ruby that JRuby 10.1 is
    WINDOWS = RUBY_PLATFORM.match?(/mingw|mswin/)
    NEVER = { Object => :never }.freeze # each such literal asks Object for its hash, and something could be raised then
    private_constant :ASKING_JRUBY, :NEVER, :WINDOWS

    # @return [Float] seconds on a clock that is never set
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # @param time [Numeric]
    # @return [Float]
    # @raise [TypeError, ArgumentError] when it is none that a clock could show
    def self.seconds(time)
      raise TypeError, "a time must be a number of seconds, not #{time.inspect}" unless time.is_a?(Numeric)

      Float(time).tap { |seconds| raise ArgumentError, "a time must be a number of seconds, not NaN" if seconds.nan? }
    end

    # Has the block run where no scheduler is asked: what it does may block the thread.
    #
    # @return [Object] what the block returns
    def self.blocking(&block)
      return yield if Fiber.current.blocking?
      return Fiber.blocking { yield } if Fiber.respond_to?(:blocking) # since Ruby 3.2

      Fiber.new(blocking: true, &block).resume
    end

    # Has the block run to its end before anything is raised into the thread.
    #
    # @return [Object] what the block returns
    def self.uninterrupted(&block)
      Thread.handle_interrupt(NEVER, &block)
    end

    # @param objects [Array<Object>]
    # @return [Hash{Object => true}]
    def self.by_identity(objects)
      objects.each_with_object({}.compare_by_identity) { |object, set| set[object] = true }
    end

    # @return [Boolean] whether this Ruby asks schedulers
    def self.asked?
      RUBY_ENGINE != "jruby" || RUBY_VERSION >= ASKING_JRUBY
    end

    # Where no scheduler is asked before a fiber blocks, fibers that wait for each other would do so for ever.
    #
    # @return [void]
    # @raise [Upwell::Error] on a JRuby before 10.1
    def self.check_asks
      return if asked?

      raise Error, "JRuby #{JRUBY_VERSION} asks no scheduler before a fiber sleeps, reads or waits, so that each would block all others: " \
                   "take JRuby 10.1 or later, or here Upwell::Loop or threads"
    end

    # @param wanted [String, Symbol, nil] nil for the one of the environment variable UPWELL_BACKEND, or else "select"
    # @return [String] "select"
    # @raise [Upwell::BackendError] for any other
    def self.backend(wanted)
      name = (wanted || ENV.fetch("UPWELL_BACKEND", nil)).to_s
      return "select" if name.empty? || name == "select"

      raise BackendError, "backend #{name} needs the extension in C; the one that works without is select"
    end
  end
end
