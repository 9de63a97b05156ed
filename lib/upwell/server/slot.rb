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
      # @raise [StandardError] when the first worker cannot be forked
      def advance(now)
        start_what_is_due(now)
        @began ||= ready?
        succeeded = advance_successor
        bury_worker while @worker&.ended?
        refuse_clients if @draining
        succeeded
      end

      # Has a successor started, as soon as the system has one to give. The worker drains once that is ready.
      def replace
        return unless @worker

        @failures = -1
        @successor_at = Clock.now
      end

      # Has all processes finish their requests and end; no other is started.
      def drain
        @draining = true
        @start_at = @successor_at = nil
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

      # @param now [Float]
      # @return [Boolean] whether somebody takes in the clients of its sockets
      def accepts?(now)
        workers.any? { |worker| worker.accepts?(now) }
      end

      # @return [Boolean]
      def replacing?
        !(@successor || @successor_at).nil?
      end

      # @return [Boolean] whether all requests were finished when draining
      def finished?
        @finished && workers.all? { |worker| worker.status.nil? || worker.status.success? }
      end

      # @return [Array<Float>] when {#advance} has something to do, even if nothing happens
      def deadlines
        [@start_at, @successor_at, *workers.map(&:deadline)].compact
      end

      private

      def start_what_is_due(now)
        start if @start_at && now >= @start_at
        replace_abandoned if @worker&.draining? && !@draining && !replacing?
        start_successor if @successor_at && now >= @successor_at
      end

      # Somebody else has told its worker to end.
      def replace_abandoned
        @successor_at = put_off_next(@worker, "was told to end")
      end

      def start
        @start_at = nil
        @worker = @fork.call(self)
      rescue StandardError => e
        raise unless @began

        @start_at = put_off { |wait| Log.tell("worker #{index} cannot be started: #{Reason.of(e)}; tried again in #{wait} s") }
      end

      def start_successor
        @successor_at = nil
        @successor = @fork.call(self)
      rescue StandardError => e
        put_off_successor(Reason.of(e))
      end

      def put_off_successor(reason)
        @successor_at = put_off { |wait| Log.tell("worker #{index} is not replaced yet: #{reason}; tried again in #{wait} s") }
      end

      def advance_successor
        return true unless @successor

        @worker.retire(@drain_timeout) if @successor.ready?
        !@successor.ended? || bury_successor
      end

      def bury_successor
        dead = @successor
        @successor = nil
        return note_end(dead) if @draining
        return put_off_successor("it lacked what its message above tells") if dead.lacked?
        return @successor_at = put_off_next(dead, death(dead)) if @worker.draining? # nobody takes in clients

        Log.tell "the new worker #{index} could not start; the old one goes on, and the restart ends here"
        false
      end

      def bury_worker
        dead = @worker
        @worker = @successor
        due = @successor_at
        @successor = @successor_at = nil
        return note_end(dead) if @draining
        return take_note_of_replacement(dead, due) if dead.draining?

        @worker ? Log.tell("worker #{index} (#{dead.pid}) #{death(dead)}") : start_again(dead)
      end

      def take_note_of_replacement(dead, due)
        return Log.tell("worker #{index} was replaced (#{dead.pid} by #{@worker.pid})") if @worker

        @start_at = due || Clock.now
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

        @start_at = put_off_next(dead, death(dead))
      end

      # @return [Float] when it is tried again
      def put_off_next(worker, event)
        @failures = -1 if worker.age > STEADY
        put_off { |wait| Log.tell("worker #{index} (#{worker.pid}) #{event}; another is started in #{wait} s") }
      end

      # @yieldparam wait [Float] seconds
      # @return [Float] when it is tried again
      def put_off
        @failures += 1
        wait = [BACK_OFF_MIN * (2**@failures), BACK_OFF_MAX].min
        yield wait.round(1)
        Clock.now + wait
      end

      def death(dead)
        "died: #{dead.status}"
      end
    end
  end
end
