# frozen_string_literal: true

# Ten thousand activities sleep at once, each ten times for one to ten milliseconds. None may wake too early.
class Sleepers
  SLEEPERS = 10_000
  SLEEPS = 10

  attr_reader :done

  def initialize
    @done = 0
  end

  def operations
    SLEEPERS * SLEEPS
  end

  def start(concurrency)
    SLEEPERS.times { |number| concurrency.spawn { sleep_in_turns(number) } }
  end

  def close; end

  private

  # The durations of all sleepers mix, and are the same in every run.
  def sleep_in_turns(number)
    expected = 0.0
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    SLEEPS.times do |turn|
      duration = ((((number * 7) + (turn * 3)) % 10) + 1) / 1000.0
      expected += duration
      sleep(duration)
    end
    @done += SLEEPS if Process.clock_gettime(Process::CLOCK_MONOTONIC) - start >= expected
  end
end
