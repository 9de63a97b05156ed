# frozen_string_literal: true

require "timeout"
require_relative "activity"
require_relative "activity_kinds"

module Torture
  # Fibers that do this and that at the same time, some of which are disturbed. Its seed determines what is chosen.
  class DisturbedFibersRound
    FIBERS = 20
    DISTURBED = 0.4 # of the activities
    DELAY_MAX = 0.01 # seconds
    FRAMES_MAX = 20 # of each backtrace that is told

    # What another fiber raises, or a time-out.
    Disturbance = Class.new(StandardError)

    # @param number [Integer]
    # @param seed [Integer]
    # @param outcomes [Hash{Symbol => Integer}] how activities ended; is added to
    # @param left_out [Array<Symbol>] kinds and ways that are not wanted
    def initialize(number, seed, outcomes, left_out)
      @number = number
      @dice = Random.new(seed)
      @outcomes = outcomes
      @kinds = KINDS.except(*left_out)
      @left_out = left_out
      @running = {}
      @ended = Thread::Queue.new
    end

    attr_reader :number

    # Returns when all fibers have ended.
    def run
      FIBERS.times { |index| begin_activity(index) }
      @running.delete(@ended.pop) until @running.empty?
    end

    # @return [Array<String>] each fiber that has not ended: what for, and where it is
    def running
      @running.map { |fiber, purpose| "#{purpose}: #{fiber.backtrace.to_a.first(FRAMES_MAX).join("\n      ")}" }
    end

    # Starts a fiber for a part of an activity; the round waits for it too.
    def help(activity)
      start(activity, "beside #{activity.kind} #{activity.name}") do
        yield
      rescue StandardError => e
        activity.at_home
        fail_with(activity, e) unless activity.over? || activity.robbed?
        activity.give_up
      end
    end

    private

    def start(activity, purpose)
      Fiber.schedule do
        @running[Fiber.current] = purpose
        activity.at_home
        yield
      ensure
        activity.at_home
        @ended << Fiber.current
      end
    end

    def begin_activity(index)
      kind = pick_kind
      way = pick_way(kind)
      activity = Activity.new(self, "r#{@number}a#{index}", kind, Random.new(@dice.rand(1 << 32)))
      dice = Random.new(@dice.rand(1 << 32))
      limit = dice.rand * DELAY_MAX if way == :time_out
      fiber = start(activity, "#{kind} #{activity.name}") { perform(activity, limit) }
      disturb(activity, fiber, way, dice) if way && way != :time_out
    end

    def pick_kind
      at = @dice.rand * @kinds.each_value.sum(&:weight)
      @kinds.each { |name, kind| return name if (at -= kind.weight).negative? }
    end

    def pick_way(kind)
      way = KINDS[kind].ways.sample(random: @dice)
      way if @dice.rand < DISTURBED && !@left_out.include?(way)
    end

    def perform(activity, limit)
      Timeout.timeout(limit, limit && Disturbance) { activity.run }
      count(:done)
    rescue Disturbance
      count(:ended_early)
    rescue ForkedChildren::Hung
      count(:hung_child)
    rescue StandardError => e
      activity.at_home
      activity.robbed? ? count(:robbed) : fail_with(activity, e)
    ensure
      activity.finish
    end

    def disturb(activity, fiber, way, dice)
      delay = dice.rand * DELAY_MAX
      act = way == :raise ? proc { fiber.raise(Disturbance) } : proc { activity.rob(half_or_whole(way, dice), dice) }
      start(activity, "#{way} #{activity.kind} #{activity.name}") do
        sleep(delay)
        way.end_with?("by_thread") ? Thread.new { activity.over? || act.call }.join : activity.over? || act.call
      end
    end

    def half_or_whole(way, dice)
      way.start_with?("half") ? %i[close_read close_write].sample(random: dice) : :close
    end

    def count(outcome)
      @outcomes[outcome] += 1
    end

    def fail_with(activity, error)
      FailureReport.sound("#{activity.kind} #{activity.name}: #{error.full_message(highlight: false).lines.first(6).join(" ").strip}")
    end
  end
end
