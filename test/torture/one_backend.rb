# frozen_string_literal: true

# Tortures one backend in this process: one_backend.rb BACKEND SECONDS SEED LOAD LEFT_OUT. Prints readings as they go; at the first thing that is
# wrong it tells what, with all fibers' backtraces and the seed, and exits 1.

require "fileutils"
require "tmpdir"
require "upwell"
require_relative "../../bench/lib/leak_detector"
require_relative "../../bench/lib/process_usage"
require_relative "../support/sanitizers"

$stdout.sync = true
backend, seconds, seed, load, left_out = ARGV

module Torture
  BACKEND = ARGV.first == "pure" ? nil : ARGV.first
  FOLDER = Dir.mktmpdir("torture")
end

require_relative "disturbed_fibers_round"

module Torture
  # Rounds under schedulers on threads, one after the other, watched by the main thread.
  class OneBackend
    STINT = 10 # rounds that one scheduler is for
    TICK = 0.1 # seconds between looks
    STUCK = 30 # seconds of ticks for a round: while the machine stands still, none goes by
    READINGS = 60
    READING_EVERY = (0.5..60) # seconds
    MEBIBYTE = 1_048_576.0
    SAID_MAX = 3000 # characters of what children said
    THREADS_MAX = 10 # the watch, who plays, and what is just ending
    DESCRIPTORS_MORE = 4 # what a conservative collector may still find
    AT_REST = { schedulers: 1, fibers: 1, waiting: 0, watches: 0, descriptors: 0, operations: 0, timers: 0 }.freeze # between rounds
    ENDED = AT_REST.transform_values { 0 }.freeze

    # @param load [Float] the share of a core that it may take: it rests after each round
    def initialize(backend, seconds, seed, load, left_out)
      @backend = backend
      @seconds = seconds
      @seed = seed
      @load = load
      @left_out = left_out
      @outcomes = Hash.new(0)
      @rounds = 0
      @memory = Bench::LeakDetector.new
      @readings = @reading_due = 0
    end

    # @return [Boolean] whether all was as it should be
    def run
      @start = now
      learn_descriptors_of_loop
      thread = Thread.new { play }
      wrong = watch(thread) || FailureReport.text || growth
      puts wrong ? complaint(wrong) : "#{@backend}: fine: #{summary}"
      !wrong
    ensure
      FileUtils.rm_rf(FOLDER)
    end

    private

    def play
      play_stint until over?
    rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is
      FailureReport.sound(e.full_message(highlight: false))
    end

    def over?
      now - @start >= @seconds || !FailureReport.text.nil?
    end

    def play_stint
      Thread.new do
        Fiber.set_scheduler(Upwell::Scheduler.new(backend: BACKEND))
        Fiber.schedule { STINT.times { over? || play_round } }
      end.join
      expect(ENDED, "after the end of a scheduler")
      expect_no_children
      expect_no_crashes
      read if now >= @reading_due || over?
    end

    def play_round
      began = now
      processor = cpu
      @ticks = 0
      @round = DisturbedFibersRound.new(@rounds, @seed + @rounds, @outcomes, @left_out)
      @round.run
      expect(AT_REST, "after round #{@rounds}")
      @rounds += 1
      rest(((cpu - processor) / @load) - (now - began))
    end

    def expect(expected, time)
      found = Upwell.stats.except(:loops).reject { |name, count| count == expected[name] } # those are kept for later
      FailureReport.sound("#{time}: #{found}") if found.any?
    end

    def expect_no_children
      FailureReport.sound("a child is left") unless Process.wait(-1, Process::WNOHANG)
    rescue Errno::ECHILD
      nil
    end

    def expect_no_crashes
      said = children
      FailureReport.sound("a child crashed: #{said}") if said.match?(Sanitizers::COMPLAINTS)
    end

    # Between stints: what is held now, nobody gives back.
    def read
      @reading_due = now + (@seconds / READINGS).clamp(READING_EVERY)
      @memory.read
      @readings += 1
      count = descriptors
      @descriptors ||= count
      FailureReport.sound("#{count} descriptors, at first #{@descriptors}") if count > @descriptors + DESCRIPTORS_MORE
      FailureReport.sound("#{Thread.list.size} threads") if Thread.list.size > THREADS_MAX
      puts "#{@backend}: #{summary}"
    end

    def rest(seconds)
      sleep(seconds) if seconds.positive?
    end

    # @return [String, nil] what is wrong, as soon as it is
    def watch(thread)
      @ticks = 0
      until thread.join(TICK)
        @ticks += 1
        ForkedChildren.tick(TICK)
        return FailureReport.text if FailureReport.text
        return "a round does not end" if @ticks * TICK > STUCK
      end
    end

    def growth
      grown = @readings < Bench::GrowthDetector::READINGS_MIN ? [] : @memory.growth
      grown.join("\n") if grown.any?
    end

    def complaint(wrong)
      number = @round&.number.to_i
      ["#{@backend}: FAILED in round #{number}, SEED=#{@seed + number} begins with it, #{RUBY_DESCRIPTION}", wrong, "-- #{summary}",
       "-- #{Upwell.stats}", "-- fibers:", @round&.running, "-- descriptors:", open_files, "-- threads:", threads,
       "-- children:", children].join("\n")
    end

    def threads
      Thread.list.map { |thread| "#{thread.inspect}: #{thread.backtrace.to_a.first(DisturbedFibersRound::FRAMES_MAX).join("\n      ")}" }
    end

    # @return [String] those that there are, and what those have said that there were
    def children
      said = File.read(ActivityKinds::Forks::ERRORS.path)
      living = Bench::ProcessUsage.pids_of_tree(Process.pid) - [Process.pid]
      [*living.map { |pid| `ps -o pid,stat,wchan,args -p #{pid} | tail -n1` }, said[-SAID_MAX..] || said].join
    end

    def summary
      outcomes = @outcomes.map { |outcome, count| "#{count} #{outcome}" }.join(", ")
      format("%.0f s, %d rounds, %s, %s, %d descriptors", now - @start, @rounds, outcomes, @memory, descriptors)
    end

    # But for the loops', which are kept for later.
    def descriptors
      Dir.children("/proc/self/fd").size - (Upwell.stats[:loops] * (@descriptors_of_loop || 0))
    end

    def open_files
      Dir["/proc/self/fd/*"].filter_map { |path| File.symlink?(path) && File.readlink(path) }.tally
    end

    def learn_descriptors_of_loop
      before = descriptors
      events = Upwell::Loop.new(backend: BACKEND)
      events.watch_timer(:event, 0)
      nil until events.next_event
      ActivityKinds::LoopsAndSelectors::IDLE << events
      @descriptors_of_loop = descriptors - before
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

# At once: what is stuck would keep it.
exit! Torture::OneBackend.new(backend, Float(seconds), Integer(seed), Float(load), left_out.to_s.split(",").map(&:to_sym)).run
