# frozen_string_literal: true

# One combination of mode, backend and workers: one_combination.rb MODE BACKEND WORKERS SECONDS SEED. Exits with 1, and the last
# events, when a client saw anything that was not its own, waited in vain, or something is left when all have gone.

$stdout.sync = true
mode, backend, workers, seconds, seed = ARGV
ENV["ISOLATION_MODE"] = mode # the application knows what is refused in it
ENV["MALLOC_ARENA_MAX"] = "1" # what is free in one arena is missed in another, which looks like a leak

require_relative "../support/hung_child"
require_relative "random_client"
require_relative "server"

module RequestIsolation
  class OneCombination
    CLIENTS = 10
    WARM_UP = 0.4 # of the time, before what is there is counted
    LAST_LOAD = 1 # second, during which the server is told to end
    REST_MAX = 60 # seconds, until what outlives its request has ended
    DESCRIPTORS_MORE = 4
    THREADS_MAX = 20 # those of the server and of libraries
    HELD_MAX = 100 # objects that a conservative collector may still find
    KILOBYTES_MORE = 80_000 # as Ruby's heap grows to what these clients need, and then no more
    NOT_IN_PIPELINE = /hijack/

    def initialize(mode, backend, workers, seconds, seed)
      @name = "#{mode} #{backend} workers=#{workers} seed=#{seed}"
      @seconds = seconds
      @seed = seed
      @server = Server.new(mode, backend, workers)
      @clients = []
      @weights = ACTS.select { |act, _| act.match?(ENV.fetch("ACTS", "")) }.transform_values(&:weight)
    end

    def port
      @server.port
    end

    def over?
      @failure || @server.bad || now > @deadline || false
    end

    def draining?
      @draining
    end

    def pick_act(random, plain)
      acts = plain && plain_acts.any? ? plain_acts : @weights
      at = random.rand * acts.values.sum
      acts.each { |act, weight| return act if (at -= weight).negative? }
    end

    # @return [Boolean]
    def go
      load_for(@seconds * WARM_UP)
      before = come_to_rest
      load_for(@seconds * (1 - WARM_UP))
      compare(before, come_to_rest) unless @failure
      end_under_load unless @failure
      @failure ||= "the server says: #{@server.bad}" if @server.bad
      @failure ||= "the log has no exception with its client's id" if @server.exceptions_compared.zero?
      tell
      !@failure
    rescue Violation, ClientConnection::Ended, SystemCallError => e
      @failure = "#{e.message} (#{e.class}) #{e.backtrace.first(3)}"
      tell
      false
    ensure
      @server.kill
    end

    private

    def plain_acts
      @plain_acts ||= @weights.select { |act, _| %i[whole empty error].include?(ACTS[act].outcome) && !act.match?(NOT_IN_PIPELINE) }
    end

    def load_for(seconds)
      @deadline = now + seconds
      threads = Array.new(CLIENTS) { |number| start_client(number) }
      yield if block_given?
      threads.each(&:join)
    end

    def start_client(number)
      client = RandomClient.new(self, @clients.size, @seed + @clients.size)
      @clients << client
      Thread.new do
        client.go
      rescue StandardError => e
        @failure ||= "client #{number}: #{e.message} (#{e.class})\n#{e.backtrace.first(5).join("\n")}\n#{client.events.join("\n")}" \
                     "\n-- the others at that time:\n#{@clients.last(CLIENTS).map { |other| other.events.last }.join("\n")}"
      end
    end

    # Waits until nothing is due any more.
    def come_to_rest
      deadline = now + REST_MAX
      until @failure || @server.bad
        rests = @server.rests
        return rests if rests.values.all? { |rest| at_rest?(rest) }

        @failure = "left over: #{rests}" if now > deadline
        sleep 0.1
      end
    end

    def at_rest?(rest)
      rest[:due].empty? && rest[:threads] < THREADS_MAX && rest[:held].values.all? { |count| count < HELD_MAX }
    end

    def compare(before, after)
      return unless before && after
      return @failure = "workers ended: #{before.keys} became #{after.keys}" if before.keys.sort != after.keys.sort

      @rest = after.values
      @failure = "more than before: #{before} #{after}" if after.any? do |process, rest|
        rest[:descriptors] > before[process][:descriptors] + DESCRIPTORS_MORE || rest[:kilobytes] > before[process][:kilobytes] + KILOBYTES_MORE
      end
    end

    # What was in flight is finished.
    def end_under_load
      status = nil
      load_for(3 * LAST_LOAD) do
        sleep LAST_LOAD
        @draining = true
        @server.signal("TERM")
        status = @server.await_end
        HungChild.end_left_behind(@server.pid)
      end
      @failure ||= "the server ended with #{status.inspect}" unless status.success?
    end

    def tell
      puts "#{@failure ? "FAILED" : "fine"}: #{@name}: #{@clients.sum(&:served)} answers#{left}"
      puts @failure, "-- the server:", @server.last_lines if @failure
    end

    def left
      @rest && ", left: #{@rest.map { |rest| "#{rest[:descriptors]} descriptors and #{rest[:kilobytes] / 1024} MiB" }.join(", ")}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

exit RequestIsolation::OneCombination.new(mode, backend, Integer(workers), Float(seconds), Integer(seed)).go
