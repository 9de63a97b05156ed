# frozen_string_literal: true

require_relative "client"

module Bench
  # Many clients at once on one thread: each visit runs in a fiber, which stops wherever its socket makes it wait.
  class ConcurrentClients
    SLICE = 0.1 # seconds; so long a select may take

    # Until when a fiber waits, and for what.
    Wait = Struct.new(:fiber, :socket, :event, :deadline)

    attr_reader :visits, :failures

    # @param size [Integer] visits at a time
    # @yieldparam crowd [ConcurrentClients] what to do in one visit
    def initialize(size, &visit)
      @size = size
      @visit = visit
      @waits = []
      @visits = 0
      @failures = Hash.new(0)
    end

    def run_for(seconds)
      deadline = now + seconds
      while now < deadline
        start while @waits.size < @size && now < deadline
        resume_ready
      end
    end

    # Lets the visits under way end.
    def finish
      resume_ready until @waits.empty?
    end

    # @return [Client] that waits by letting others run
    def client(port, **options)
      Client.new(port, **options) { |socket, event| pause(socket, event, Client::WAIT_MAX) }
    end

    def rest(seconds)
      pause(nil, 0, seconds)
    end

    private

    def start
      fiber = Fiber.new do
        @visit.call(self)
        nil
      rescue Client::Error, SystemCallError => e
        @failures[e.message] += 1
        nil
      end
      @visits += 1
      resume(fiber)
    end

    def pause(socket, event, seconds)
      Fiber.yield(Wait.new(Fiber.current, socket, event, now + seconds))
    end

    def resume(fiber, ready = nil)
      wait = fiber.resume(ready)
      @waits << wait if wait
    end

    def resume_ready
      ready = select
      due, @waits = @waits.partition { |wait| ready.include?(wait.socket) || wait.deadline <= now }
      due.each { |wait| resume(wait.fiber, ready.include?(wait.socket) || nil) }
    end

    def select
      readers, writers = [IO::READABLE, IO::WRITABLE].map { |event| @waits.select { |wait| wait.event == event }.map(&:socket) }
      timeout = @waits.map(&:deadline).min.to_f - now
      IO.select(readers, writers, nil, timeout.clamp(0, SLICE)).to_a.flatten.to_h { |socket| [socket, true] }.compare_by_identity
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
