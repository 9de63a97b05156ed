# frozen_string_literal: true

require_relative "worker"

module Upwell
  class Server
    # The place of one worker. Its number and its sockets outlive the worker, so whoever comes next finds the backlog of the one before.
    class Slot
      BACK_OFF_MIN = 0.1 # seconds before a worker that died is started again; doubled for each early death
      BACK_OFF_MAX = 10
      STEADY = 10 # seconds after which a worker's death is no early one

      # @return [Integer]
      attr_reader :index
      # @return [Array<Listeners::Listener>]
      attr_reader :listeners

      # @param index [Integer]
      # @param listeners [Array<Listeners::Listener>]
      # @param drain_timeout [Numeric]
      # @yieldparam slot [Slot]
      # @yieldreturn [Worker] a new one
      def initialize(index, listeners, drain_timeout, &fork)
        @index = index
        @listeners = listeners
        @drain_timeout = drain_timeout
        @fork = fork
        @failures = 0
        @start_at = Clock.now
        @finished = true
      end

      # Does what is due: starts a worker, lets a successor take over, takes note of those that ended.
      #
      # @param now [Float]
      # @return [Boolean] false when a successor could not start
      # @raise [ConfigurationError] when the first worker could not start
      def advance(now)
        start if @start_at && now >= @start_at
        workers.each { |worker| worker.check(now) }
        @began ||= ready?
        succeeded = advance_successor
        bury_worker while @worker&.ended?
        refuse_clients if @draining
        succeeded
      end

      # Starts a successor. The worker drains once that is ready.
      def replace
        @successor ||= @fork.call(self) if @worker
      rescue SystemCallError => e
        Log.tell("worker #{index} is not replaced: #{Reason.of(e)}; the old one goes on")
      end

      # Has all processes finish their requests and end; no other is started.
      def drain
        @draining = true
        @start_at = nil
        workers.each { |worker| worker.drain(@drain_timeout) }
        refuse_clients
      end

      # @return [Array<Worker>] the worker and its successor, as far as there are
      def workers
        [@worker, @successor].compact
      end

      # @return [Boolean]
      def ready?
        @worker&.ready? || false
      end

      # @return [Boolean]
      def replacing?
        !@successor.nil?
      end

      # @return [Boolean] whether all requests were finished when draining
      def finished?
        @finished
      end

      # @return [Array<Float>] when {#advance} has something to do, even if nothing happens
      def deadlines
        [@start_at, *workers.map(&:deadline)].compact
      end

      private

      def start
        @start_at = nil
        @worker = @fork.call(self)
      rescue SystemCallError => e
        raise unless @began

        Log.tell("worker #{index} cannot be started: #{Reason.of(e)}; tried again in #{put_off.round(1)} s")
      end

      def advance_successor
        return true unless @successor

        @worker.retire(@drain_timeout) if @successor.ready?
        !@successor.ended? || bury_successor
      end

      def bury_successor
        dead = @successor
        return true if dead.ready? && !@draining # it took over already; it is buried as the worker

        @successor = nil
        return note_end(dead) if @draining

        Log.tell "the new worker #{index} could not start; the old one goes on, and the restart ends here"
        false
      end

      def bury_worker
        dead = @worker
        @worker = @successor
        @successor = nil
        return note_end(dead) if @draining
        return Log.tell("worker #{index} was replaced (#{dead.pid} by #{@worker.pid})") if dead.draining?

        @worker ? tell_death(dead) : start_again(dead)
      end

      # A worker does so itself, and takes in who is connected.
      def refuse_clients
        Listeners.refuse(listeners) if workers.none?(&:ready?)
      end

      def note_end(dead)
        @finished &&= dead.status.success?
      end

      def start_again(dead)
        raise ConfigurationError, "worker #{index} could not start; its message is above" unless @began

        @failures = -1 if dead.age > STEADY
        tell_death(dead, "; another is started in #{put_off.round(1)} s")
      end

      # @return [Float] seconds until a worker is started
      def put_off
        @failures += 1
        wait = [BACK_OFF_MIN * (2**@failures), BACK_OFF_MAX].min
        @start_at = Clock.now + wait
        wait
      end

      def tell_death(dead, remedy = "")
        Log.tell "worker #{index} (#{dead.pid}) died: #{dead.status}#{remedy}"
      end
    end
  end
end
