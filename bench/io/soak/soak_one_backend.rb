# frozen_string_literal: true

# Soaks one scheduler in this process: ruby soak_one_backend.rb BACKEND SECONDS LOAD SEED. Prints readings as they go, then what is wrong;
# exits 1 if anything is.

require "upwell"
require_relative "../../lib/leak_detector"
require_relative "../../lib/process_usage"
require_relative "disturbed_fibers_round"

module Bench
  module Io
    # Rounds under a scheduler on a thread of its own, watched by the main thread.
    class Soak
      READINGS = 60
      READING_SECONDS_MAX = 60
      READING_SECONDS_MIN = 0.5
      STUCK_MAX = 30 # seconds for a round
      MEBIBYTE = 1_048_576.0
      AT_REST = { schedulers: 1, loops: 0, fibers: 1, waiting: 0, watches: 0, descriptors: 0, operations: 0, timers: 0 }.freeze # between rounds
      NOTHING = AT_REST.transform_values { 0 }.freeze

      # @param load [Float] the share of a core that it may take: it rests after each round
      def initialize(backend, seconds:, load:, seed:)
        @backend = backend
        @seconds = seconds
        @load = load
        @random = Random.new(seed)
        @outcomes = Hash.new(0)
        @wrong = []
        @rounds = 0
        @memory = LeakDetector.new
        @memory_due = 0
      end

      # @return [Array<String>] what is wrong
      def run
        @before = descriptors
        @start = now
        thread = Thread.new { soak }
        until thread.join(reading_seconds)
          read
          give_up if stuck?
        end
        read
        check("after the end", NOTHING)
        @wrong.empty? ? [*@memory.growth, *left_behind, *missing] : @wrong
      end

      private

      def soak
        scheduler = Upwell::Scheduler.new(backend: @backend)
        Fiber.set_scheduler(scheduler)
        Fiber.schedule { play_round while now - @start < @seconds && @wrong.empty? }
        scheduler.run
        check("after the last round", { **AT_REST, fibers: 0 })
      end

      def play_round
        @round_start = now
        processor = cpu
        @round = DisturbedFibersRound.new(@random, @outcomes, @wrong)
        @round.run
        check("after round #{@rounds}", AT_REST)
        @rounds += 1
        read_memory if now >= @memory_due
        rest(((cpu - processor) / @load) - (now - @round_start))
      end

      # Between rounds: what is held now, nobody gives back.
      def read_memory
        @memory_due = now + reading_seconds
        @memory.read
      end

      def rest(seconds)
        sleep(seconds) if seconds.positive?
      end

      def check(time, expected)
        found = Upwell.stats
        @wrong << "#{time}: #{found.reject { |name, count| count == expected[name] }}, expected #{expected}" if found != expected
      end

      def read
        usage = ProcessUsage.of_tree(Process.pid)
        puts format("  %5d s %7.1f MiB (in use: %s) %4d descriptors %7d rounds  %s", now - @start, usage.resident / MEBIBYTE, @memory,
                    descriptors, @rounds, @outcomes.map { |outcome, count| "#{count} #{outcome}" }.join(", "))
      end

      # When the machine has stood still, a round looks stuck that is not: it has the time once more.
      def stuck?
        return false if now - @round_start < STUCK_MAX

        rounds = @rounds
        STUCK_MAX.times { sleep(1) if @rounds == rounds }
        @rounds == rounds
      end

      def give_up
        abort "round #{@rounds} does not end: #{Upwell.stats}\n  #{@round.running.join("\n  ")}"
      end

      def left_behind
        GC.start # closes what an exception kept Ruby from handing over: a socket that was just connecting
        count = descriptors - @before
        ["#{count} descriptors left behind"] if count.positive?
      end

      # A soak in which nothing is ended early proves nothing.
      def missing
        missing = %i[done ended_early robbed] - @outcomes.keys
        ["nothing was #{missing.join(" or ")}"] if missing.any?
      end

      def reading_seconds
        (@seconds / READINGS).clamp(READING_SECONDS_MIN, READING_SECONDS_MAX)
      end

      def descriptors
        Dir.children("/proc/self/fd").size
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def cpu
        times = Process.times
        times.utime + times.stime + times.cutime + times.cstime
      end
    end
  end
end

$stdout.sync = true
backend, seconds, load, seed = ARGV
wrong = Bench::Io::Soak.new(backend, seconds: Float(seconds), load: Float(load), seed: Integer(seed)).run
abort wrong.map { |complaint| "#{backend}: #{complaint}" }.join("\n") if wrong.any?
