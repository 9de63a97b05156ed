# frozen_string_literal: true

require_relative "worker"

module Upwell
  class Server
    module Processes
      # The slot of one worker. Its number and its sockets outlive the worker, so the successor finds the accept queue.
      class Slot
        BACK_OFF_MIN = 0.1 # seconds before a dead worker is restarted; doubled for each early death
        BACK_OFF_MAX = 10
        STEADY = 10 # seconds of life after which a death is not early

        # @return [Integer]
        attr_reader :index
        # @return [Array<Listening::Listeners::Listener>]
        attr_reader :listeners

        # @param index [Integer]
        # @param listeners [Array<Listening::Listeners::Listener>]
        # @param drain_timeout [Numeric]
        # @param control [Proc] returns the {Listening::ControlListener} that counts restarts, or nil
        # @yieldparam slot [Slot]
        # @yieldreturn [Worker] a new one
        def initialize(index, listeners, drain_timeout, control = -> {}, &fork)
          @index = index
          @listeners = listeners
          @drain_timeout = drain_timeout
          @control = control
          @fork = fork
          @failures = 0
          @start_at = Clock.now
          @finished = true
          @drain_announced = false
        end

        # Does the work that is due: starts a worker, lets a successor take over, records workers that have exited.
        #
        # @param now [Float]
        # @return [Boolean] false when a successor could not start
        # @raise [ConfigurationError] when the first worker could not start
        # @raise [StandardError] when the first worker cannot be forked
        def advance(now)
          start_what_is_due(now)
          @began ||= ready?
          succeeded = advance_successor
          reap_worker while @worker&.ended?
          refuse_clients if @draining
          succeeded
        end

        # Starts a successor as soon as the system has a process for it. The worker drains once the successor is ready.
        def replace
          return unless @worker

          @failures = -1
          @successor_at = Clock.now
        end

        # Makes all processes of the slot announce the drain, later ones included.
        def announce_drain
          @drain_announced = true
          workers.each(&:announce_drain)
        end

        # A new process reads this as it begins, so its first answers already announce the drain.
        #
        # @return [Boolean]
        def drain_announced?
          @drain_announced
        end

        # Informs all processes of the slot of the owner of their sockets. Later ones inherit the listeners' state.
        #
        # @param change [String] see {Worker#tell_owner}
        def tell_owner(change)
          workers.each { |worker| worker.tell_owner(change) }
        end

        # Drains all processes of the slot, and starts no other.
        def drain
          @draining = true
          @start_at = @successor_at = nil
          workers.each { |worker| worker.drain(@drain_timeout) }
          refuse_clients
        end

        # @return [Array<Worker>] the worker and its successor, if they exist
        def workers
          [@worker, @successor].compact
        end

        # @return [Boolean]
        def ready?
          @worker&.ready? || false
        end

        # @param now [Float]
        # @return [Boolean] whether a worker accepts clients from the slot's sockets
        def accepts?(now)
          workers.any? { |worker| worker.accepts?(now) }
        end

        # @return [Boolean]
        def replacing?
          !(@successor || @successor_at).nil?
        end

        # @return [Boolean] whether all requests were finished when draining
        def finished?
          @finished && workers.all? { |worker| worker.status.nil? || lost_nothing?(worker) }
        end

        # @return [Array<Float>] the times when {#advance} has work to do, even without an event
        def deadlines
          [@start_at, @successor_at, *workers.flat_map { |worker| [worker.deadline, worker.retire_at] }].compact
        end

        private

        def start_what_is_due(now)
          start if @start_at && now >= @start_at
          replace_abandoned if @worker&.draining? && !@draining && !replacing?
          start_successor if @successor_at && now >= @successor_at
        end

        # The worker received a stop signal that the supervisor did not send.
        def replace_abandoned
          @successor_at = put_off_next(@worker, "received a stop signal")
        end

        def start
          @start_at = nil
          @worker = fork_worker
        rescue StandardError => e
          raise unless @began

          @start_at = put_off { |wait| Log.tell("worker #{index} cannot start: #{ErrnoText.of(e)}; retrying in #{wait} s") }
        end

        def fork_worker
          @fork.call(self).tap { |worker| worker.announce_drain if @drain_announced }
        end

        def start_successor
          @successor_at = nil
          @successor = fork_worker
        rescue StandardError => e
          put_off_successor(ErrnoText.of(e))
        end

        def put_off_successor(reason)
          @successor_at = put_off { |wait| Log.tell("worker #{index} cannot be replaced yet: #{reason}; retrying in #{wait} s") }
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

          count_restart(dead)
          return put_off_successor("see its message above") if dead.lacked?
          return @successor_at = put_off_next(dead, death(dead)) if @worker.draining? # no process accepts clients

          Log.tell "the new worker #{index} could not start; the old worker keeps serving, and the restart stops; see the message above, " \
                   "then send SIGUSR1 again"
          false
        end

        def reap_worker
          dead = @worker
          @worker = @successor
          due = @successor_at
          @successor = @successor_at = nil
          return note_end(dead) if @draining

          count_restart(dead)
          return take_note_of_replacement(dead, due) if dead.draining?

          @worker ? Log.tell("worker #{index} (#{dead.pid}) #{death(dead)}") : start_again(dead)
        end

        def count_restart(dead)
          @control.call&.count_restart(index, dead.end_reason)
        end

        def take_note_of_replacement(dead, due)
          return Log.tell("worker #{index} was replaced (#{dead.pid} by #{@worker.pid})") if @worker

          @start_at = due || Clock.now
        end

        # A worker that is ready refuses new clients itself, and serves its connected ones.
        def refuse_clients
          Listening::Listeners.refuse(listeners) if workers.none?(&:ready?)
        end

        def note_end(dead)
          @finished &&= lost_nothing?(dead)
        end

        # A worker without the resources to start has accepted no client.
        def lost_nothing?(worker)
          worker.status.success? || (worker.lacked? && !worker.ready?)
        end

        def start_again(dead)
          raise ConfigurationError, "worker #{index} could not start; see its message above" unless @began

          @start_at = put_off_next(dead, death(dead))
        end

        # @return [Float] the time of the next attempt
        def put_off_next(worker, event)
          @failures = -1 if worker.age > STEADY
          put_off { |wait| Log.tell("worker #{index} (#{worker.pid}) #{event}; starting another in #{wait} s") }
        end

        # @yieldparam wait [Float] seconds
        # @return [Float] the time of the next attempt
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
end
