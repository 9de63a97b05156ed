# frozen_string_literal: true

# No test waits for ever: one that takes too long fails, and tells where each thread stood. A server that it has started tells then what it has
# printed and what it does (ServerProcess.open).
module TimeLimit
  SECONDS_MAX = Float(ENV.fetch("TEST_SECONDS_MAX", 900)) # many times what the slowest test takes
  FRAMES_MAX = 30
  PAUSE = 1 # seconds between two looks

  Exceeded = Class.new(Minitest::Assertion) # which no `rescue StandardError` of a test takes

  @running = {} # threads, and when their tests are to have ended
  @lock = Mutex.new

  class << self
    # @yield what may take so long
    def keep(seconds = SECONDS_MAX)
      @watch = Thread.new { watch } unless @watch&.alive? # a forked process has none
      before = @lock.synchronize { @running[Thread.current].tap { @running[Thread.current] = now + seconds } }
      yield
    ensure
      @lock.synchronize { before ? @running[Thread.current] = before : @running.delete(Thread.current) }
    end

    private

    def watch
      loop do
        sleep PAUSE
        @lock.synchronize { late.each { |thread| @running.delete(thread) && thread.raise(Exceeded, sentence) } }
      end
    end

    def late
      @running.select { |thread, deadline| thread.alive? && deadline < now }.keys
    end

    def sentence
      threads = Thread.list - [Thread.current]
      "the test does not end:\n#{threads.map { |thread| [thread.inspect, *thread.backtrace.to_a.first(FRAMES_MAX)].join("\n  ") }.join("\n")}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # Minitest's: around a test, and around what comes before and after it.
  def capture_exceptions
    super { TimeLimit.keep { yield } }
  end
end

Minitest::Test.prepend(TimeLimit)
