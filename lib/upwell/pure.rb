# frozen_string_literal: true

require "etc"
require_relative "pure/argument_conversion"
require_relative "pure/loop"
require_relative "pure/selector"

module Upwell
  # Replaces the extension if it cannot be loaded: on another Ruby, on another system, or without a compiler.
  module Pure
    ASKING_JRUBY = "4.0" # the Ruby version of JRuby 10.1
    WINDOWS = RUBY_PLATFORM.match?(/mingw|mswin/)
    NEVER = { Object => :never }.freeze # a literal would call Object#hash each time, and an exception could interrupt that call
    private_constant :ASKING_JRUBY, :NEVER, :WINDOWS

    # @return [Float] seconds on the monotonic clock
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Runs the block without the scheduler: its calls may block the thread.
    #
    # @return [Object] the block's result
    def self.blocking(&block)
      return yield if Fiber.current.blocking?
      return Fiber.blocking { yield } if Fiber.respond_to?(:blocking) # since Ruby 3.2

      Fiber.new(blocking: true, &block).resume
    end

    # Runs the block and defers exceptions from other threads until it has ended.
    #
    # @return [Object] the block's result
    def self.uninterrupted(&block)
      Thread.handle_interrupt(NEVER, &block)
    end

    # Builds a set that compares by identity.
    #
    # @param objects [Array<Object>]
    # @return [Hash{Object => true}]
    def self.by_identity(objects)
      objects.each_with_object({}.compare_by_identity) { |object, set| set[object] = true }
    end

    # @return [Boolean] whether this Ruby calls the scheduler
    def self.asked?
      RUBY_ENGINE != "jruby" || RUBY_VERSION >= ASKING_JRUBY
    end

    # Raises an error on a Ruby that does not call the scheduler before a fiber blocks: fibers that wait for each other would deadlock there.
    #
    # @return [void]
    # @raise [Upwell::Error] on a JRuby before 10.1
    def self.check_asks
      return if asked?

      raise Error, "JRuby #{JRUBY_VERSION} does not call the scheduler before a fiber sleeps, reads or waits, so one fiber would block all " \
                   "fibers: use JRuby 10.1 or later, Upwell::Loop or threads"
    end

    # Checks the name of a backend.
    #
    # @param wanted [String, Symbol, nil] nil: the environment variable UPWELL_BACKEND, or else "select"
    # @return [String] "select"
    # @raise [Upwell::BackendError] for any other name
    def self.backend(wanted)
      name = (wanted || ENV.fetch("UPWELL_BACKEND", nil)).to_s
      return "select" if name.empty? || name == "select"

      raise BackendError, "backend #{name} needs the C extension; only select works without it"
    end
  end
end
