# frozen_string_literal: true

require "timeout"
require_relative "fiber_activity"

module Bench
  module Io
    # Fibers that do this and that at the same time; some are ended early: by a time-out, by an exception that another fiber raises in them, or
    # by another fiber that closes what they wait for.
    class DisturbedFibersRound
      FIBERS = 20
      WAYS = %i[time_out raise close].freeze
      DISTURBED = 0.5 # of the activities
      DELAY_MAX = 0.01 # seconds
      FAILURES_MAX = 20 # that are told; all are counted

      # What another fiber raises.
      Disturbance = Class.new(StandardError)

      # @param outcomes [Hash{Symbol => Integer}] how activities ended; is added to
      # @param failures [Array<String>] what should not have happened; is added to
      def initialize(random, outcomes, failures)
        @random = random
        @outcomes = outcomes
        @failures = failures
        @running = {}
        @ended = Thread::Queue.new
      end

      # Returns when all fibers have ended.
      def run
        FIBERS.times { begin_activity }
        @running.delete(@ended.pop) until @running.empty?
      end

      # @return [Array<String>] each fiber that has not ended: what for, and where it is
      def running
        @running.map { |fiber, purpose| "#{purpose}: #{fiber.backtrace.to_a.first(6).join("\n      ")}" }
      end

      # Starts a fiber for a part of an activity; the round waits for it too.
      def help(activity)
        start("beside #{activity.kind}") do
          yield
        rescue StandardError => e
          fail_with(activity, e) unless activity.over? || activity.robbed?
          activity.give_up
        end
      end

      private

      def start(purpose)
        Fiber.schedule do
          @running[Fiber.current] = purpose
          yield
        ensure
          @ended << Fiber.current
        end
      end

      def begin_activity
        activity = FiberActivity.new(self, @random)
        way = WAYS.sample(random: @random) if @random.rand < DISTURBED
        limit = @random.rand * DELAY_MAX if way == :time_out
        fiber = start(activity.kind) { perform(activity, limit) }
        disturb(activity, fiber, way) if %i[raise close].include?(way)
      end

      def perform(activity, limit)
        Timeout.timeout(limit, limit && Disturbance) { activity.run }
        count(:done)
      rescue Disturbance
        count(:ended_early)
      rescue StandardError => e
        activity.robbed? ? count(:robbed) : fail_with(activity, e)
      ensure
        activity.finish
      end

      def disturb(activity, fiber, way)
        start("#{way} #{activity.kind}") do
          sleep(@random.rand * DELAY_MAX)
          next if activity.over?

          way == :raise ? fiber.raise(Disturbance) : activity.rob
        end
      end

      def count(outcome)
        @outcomes[outcome] += 1
      end

      def fail_with(activity, error)
        @outcomes[:failed] += 1
        return if @failures.size >= FAILURES_MAX

        @failures << "#{activity.kind}: #{error.full_message(highlight: false).lines.first(4).join(" ").strip}"
      end
    end
  end
end
