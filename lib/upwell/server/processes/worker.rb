# frozen_string_literal: true

require "socket"
require_relative "../../clock"
require_relative "../control/commands"
require_relative "fork"
require_relative "heartbeat"
require_relative "worker_state"

module Upwell
  class Server
    module Processes
      # A worker process, as the supervisor sees it: it boots, becomes ready, drains and exits. Two socket pairs connect them: unlike pipes,
      # these need not raise SIGPIPE. On the first pair the worker reports that it is ready, and then sends heartbeats ({Heartbeat}). The
      # second is the lifeline: the worker drains when it closes, whether the supervisor closed it or died.
      class Worker
        include WorkerState

        VOICE_BYTES = 4096 # per read
        START = "s" # the supervisor has registered the worker
        ANNOUNCE_DRAIN = "a" # all workers will drain: readiness checks fail
        END_AT_ONCE = "e" # on the first pair
        RETIRE = "r" # other workers serve from its sockets
        LEND = "l" # another server owns the sockets
        OWN = "o" # this server owns the sockets
        LATER_STATUS = 75 # of a worker for which the system lacked resources (EX_TEMPFAIL, see sysexits.h)
        DRAIN_MARGIN = 2 # seconds after the worker's own deadline

        # The status of a worker for which other code has waited: a preloaded application may run threads in the supervisor.
        class UnknownStatus
          # @return [Boolean]
          def success?
            false
          end

          # @return [nil]
          def exitstatus
            nil
          end

          # @return [String] for the operator
          def to_s
            "exit status unknown, because a Process.wait of the application took it"
          end
        end

        # @return [Integer]
        attr_reader :pid
        # @return [Process::Status, UnknownStatus, nil] once the process has exited
        attr_reader :status
        # @return [String, nil] the backend in use, once ready
        attr_reader :backend
        # @return [Float, nil] the time when the worker is killed, unless it sends something before
        attr_reader :deadline
        # @return [Float, nil] the time when the worker retires because of its own stop signal
        attr_reader :retire_at

        # Forks a worker process.
        #
        # @param inherited [Array<IO>] IOs that the new process closes
        # @param configuration [Configuration] has the seconds to become ready, and the seconds without a heartbeat afterwards
        # @yieldparam status_writer [UNIXSocket] receives the backend's name once the worker accepts, and then heartbeats
        # @yieldparam alive [UNIXSocket] has a byte when the worker shall drain; its end of file means that no process serves from its sockets
        # @yieldreturn [Integer] the exit status
        # @return [Worker]
        # @raise [SystemCallError] when the system cannot create a process
        def self.fork(inherited, configuration)
          pipes = UNIXSocket.pair
          pipes.concat(UNIXSocket.pair)
          status_reader, status_writer, alive_reader, alive = pipes
          pid = Fork.call do
            [status_reader, alive, *inherited].each(&:close)
            alive_reader.getc ? yield(status_writer, alive_reader) : 1
          end
          [status_writer, alive_reader].each(&:close)
          new(pid, status_reader, alive, configuration)
        rescue StandardError # the system is out of descriptors or processes, or a library's fork hook fails
          pipes&.each(&:close)
          raise
        end

        # @see .fork
        def initialize(pid, status_reader, alive, configuration)
          @pid = pid
          @status_reader = status_reader
          @alive = alive
          @silence_max = configuration.worker_timeout
          @drain_timeout = configuration.drain_timeout
          @boot_timeout = configuration.boot_timeout
          @born = Clock.now
          @deadline = @born + @boot_timeout
          @draining = false
          Heartbeat.tell(@alive, START)
        end

        # Checks whether the worker is ready and alive, and kills the worker when it is late.
        #
        # @param now [Float]
        def check(now)
          return if status

          read_status unless @status_reader.closed?
          leave if retire_at && now >= retire_at
          give_up if deadline && now >= deadline
        end

        # Extends the deadline: the supervisor did not run for a while and may have missed heartbeats.
        #
        # @param seconds [Float]
        def excuse(seconds)
          return unless deadline

          @deadline = serves? ? Clock.now + @silence_max : deadline + seconds
        end

        # @return [Boolean]
        def ready?
          !backend.nil?
        end

        # @param now [Float]
        # @return [Boolean] whether the worker gets new clients; a worker with missing heartbeats may be stopped and accept none
        def accepts?(now)
          serves? && now < deadline - @silence_max + (Heartbeat::MISSED * Heartbeat.interval(@silence_max))
        end

        # Makes the worker announce the drain, and serve until {#drain}. From now on a stop signal of its own has no effect.
        def announce_drain
          @drain_announced = true
          @retire_at = nil
          Heartbeat.tell(@alive, ANNOUNCE_DRAIN)
        end

        # Informs the worker of the owner of its sockets, see {HotRestart}.
        #
        # @param change [String] {LEND} or {OWN}
        def tell_owner(change)
          Heartbeat.tell(@alive, change)
        end

        # Makes the worker finish its requests and exit. Other workers use its sockets.
        #
        # @param seconds [Numeric] the deadline that the worker sets itself
        def retire(seconds)
          return if draining?

          await_end(seconds) if Heartbeat.tell(@alive, RETIRE)
        end

        # Makes the worker finish its requests, refuse new clients, and exit.
        #
        # @param seconds [Numeric] the deadline that the worker sets itself
        def drain(seconds)
          @alive.close
          await_end(seconds)
        end

        # @return [Boolean] whether the worker accepts no more clients, by a command of the supervisor or by its own signal
        def draining?
          @draining
        end

        # @return [Boolean]
        def ended?
          return true if status

          @status = wait(Process::WNOHANG)
          pipes.each(&:close) if status
          !status.nil?
        end

        # Makes the process exit at once, after it has written the lines of its access log.
        def end_at_once
          Heartbeat.tell(@status_reader, END_AT_ONCE) unless status
        end

        # Kills the process.
        def kill
          return if status

          signal("KILL")
          @status = wait
          pipes.each(&:close)
        end

        # @return [Boolean] whether the worker exited because the system lacked resources
        def lacked?
          status&.exitstatus == LATER_STATUS
        end

        # Sends a signal to the process.
        #
        # @param name [String]
        def signal(name)
          Process.kill(name, pid) unless status
        rescue Errno::ESRCH
          nil
        end

        # @return [Array<IO>] the supervisor's ends
        def pipes
          [@status_reader, @alive]
        end

        # @return [IO, nil] an IO that becomes readable when the worker has sent something
        def awaited
          @status_reader unless @status_reader.closed?
        end

        # @return [Float] seconds since it was forked
        def age
          Clock.now - @born
        end

        private

        def wait(flags = 0)
          Process.wait2(pid, flags)&.last
        rescue Errno::ECHILD
          UnknownStatus.new
        end

        def await_end(seconds)
          @draining = true
          @retire_at = nil
          @deadline = Clock.now + seconds + DRAIN_MARGIN
        end

        def read_status
          text = @status_reader.read_nonblock(VOICE_BYTES, exception: false)
          return if text == :wait_readable
          return @status_reader.close unless text # the exit of the process is detected separately

          @backend ||= text.lines.first.chomp
          return if draining?

          @deadline = Clock.now + @silence_max
          await_own_signal if text.include?(Heartbeat::LEAVING) && !@drain_announced
        end

        # The worker received a stop signal of its own.
        def leave
          @leaves = true
          retire(@drain_timeout)
        end

        # A signal to all processes may reach the worker before the supervisor. Then all workers drain, after the delay.
        def await_own_signal
          @retire_at = Clock.now + Control::Commands::SAME_STOP unless retire_at
        end

        # A worker that is being killed has no deadline.
        def serves?
          ready? && !draining? && !deadline.nil?
        end

        # The supervisor stops reading from the worker: the last message may say that it is ready.
        def give_up
          return excuse(0) if serves? && traced?

          @silent = serves?
          @deadline = nil
          @status_reader.close
          Log.tell("killing worker process #{pid}: #{failure}")
          signal("KILL")
        end

        def failure
          return format("its requests did not finish within %g s; raise --drain-timeout if they need longer", @drain_timeout) if draining?
          return format("its application did not load within %g s; raise --boot-timeout if it needs longer", @boot_timeout) unless ready?

          format("no heartbeat for %g s: it was suspended, or a C extension held Ruby's lock; raise --worker-timeout if this may last longer",
                 @silence_max)
        end

        # A debugger may stop the worker for any time. Linux reports a debugger; on other systems a longer time-out helps.
        def traced?
          File.foreach("/proc/#{pid}/status").any?(/\ATracerPid:\s+[1-9]/)
        rescue SystemCallError
          false
        end
      end
    end
  end
end
